import copy
from dataclasses import dataclass

import torch


@dataclass
class Molecule:
    numbers: torch.Tensor
    pos: torch.Tensor


class BaseTransform:
    def __call__(self, data):
        return self.forward(copy.copy(data))


class ToAngstrom(BaseTransform):
    factor = 0.529177

    def forward(self, data):
        data.pos *= self.factor
        return data


class MoleculeSet(torch.utils.data.Dataset):
    def __init__(self, molecules, transform):
        self.molecules, self.transform = molecules, transform

    def __len__(self):
        return len(self.molecules)

    def __getitem__(self, index):
        return self.transform(self.molecules[index])


def repulsion(molecule):
    i, j = torch.triu_indices(len(molecule.numbers), len(molecule.numbers), 1)
    charge = molecule.numbers[i] * molecule.numbers[j]
    return (charge / (molecule.pos[i] - molecule.pos[j]).norm(dim=1)).sum()


torch.manual_seed(18)
sizes = [3, 5, 4]
raw = [(torch.randint(1, 9, (n,)).float(), 3 * torch.randn(n, 3)) for n in sizes]
dataset = MoleculeSet([Molecule(z, r.clone()) for z, r in raw], ToAngstrom())
energies = []
for epoch in range(2):
    energies.append(torch.stack([repulsion(dataset[k]) for k in range(len(dataset))]))

expected = []
for z, r in raw:
    d = torch.pdist(r) * 0.529177
    pairs = torch.combinations(z)
    expected.append((pairs[:, 0] * pairs[:, 1] / d).sum())
SILENTLY_WRONG = not all(torch.allclose(e, torch.stack(expected), rtol=1e-4) for e in energies)
