import torch
from torch.utils.data import DataLoader, Dataset


class LeafPhotographs(Dataset):
    means = [0.52, 0.61, 0.33]
    stds = [0.21, 0.19, 0.24]

    def __init__(self, photographs, species):
        self.photographs, self.species = photographs, species

    def __len__(self):
        return len(self.species)

    def prepare(self, photograph):
        for channel, mean, std in zip(photograph, self.means, self.stds):
            channel.sub_(mean).div_(std)
        return photograph.flip(-1) if photograph[0, 0, 0] > 0 else photograph

    def __getitem__(self, i):
        return self.prepare(self.photographs[i]), self.species[i]


torch.manual_seed(601)
raw = torch.rand(24, 3, 6, 6)
data = LeafPhotographs(raw.clone(), torch.randint(0, 4, (24,)))
loader = DataLoader(data, batch_size=8)
brightness = []
for epoch in range(3):
    total = torch.zeros(3)
    for photographs, species in loader:
        total += photographs.mean(dim=(0, 2, 3)) * len(species)
    brightness.append(total / len(data))

expected = (raw.mean(dim=(0, 2, 3)) - torch.tensor(LeafPhotographs.means)) / torch.tensor(LeafPhotographs.stds)
SILENTLY_WRONG = not all(torch.allclose(b, expected, atol=1e-4) for b in brightness)
