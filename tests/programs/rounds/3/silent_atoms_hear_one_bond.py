import torch
from torch import nn

torch.manual_seed(0)


class BondConv(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.message = nn.Linear(dim, dim)
        self.update = nn.GRUCell(dim, dim)

    def forward(self, atoms, bonds):
        src, dst = bonds
        messages = torch.relu(self.message(atoms[src]))
        inbox = atoms.new_zeros(atoms.shape)
        inbox[dst] += messages
        return self.update(inbox, atoms)


class EnergyNet(nn.Module):
    def __init__(self, dim=8, layers=2):
        super().__init__()
        self.embed = nn.Embedding(10, dim)
        self.layers = nn.ModuleList(BondConv(dim) for _ in range(layers))
        self.readout = nn.Linear(dim, 1)

    def forward(self, kinds, bonds):
        atoms = self.embed(kinds)
        for layer in self.layers:
            atoms = layer(atoms, bonds)
        return self.readout(atoms).sum()


kinds = torch.tensor([6, 1, 1, 1, 1])
pairs = torch.tensor([[0, 0, 0, 0], [1, 2, 3, 4]])
bonds = torch.cat([pairs, pairs.flip(0)], dim=1)
net = EnergyNet()
energy = net(kinds, bonds)

adjacency = torch.zeros(5, 5)
adjacency[bonds[1], bonds[0]] = 1.0
atoms = net.embed(kinds)
for layer in net.layers:
    atoms = layer.update(adjacency @ torch.relu(layer.message(atoms)), atoms)
expected = net.readout(atoms).sum()
SILENTLY_WRONG = not torch.allclose(energy, expected, atol=1e-5)
