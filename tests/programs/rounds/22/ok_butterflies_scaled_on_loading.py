import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Normalize:
    def __init__(self, mean, std, inplace=False):
        self.mean = torch.tensor(mean).view(-1, 1, 1)
        self.std = torch.tensor(std).view(-1, 1, 1)
        self.inplace = inplace

    def __call__(self, tensor):
        if not self.inplace:
            tensor = tensor.clone()
        return tensor.sub_(self.mean).div_(self.std)


class Butterflies(Dataset):
    """Keeps all pictures as bytes; each access makes floats that the transforms may change."""

    def __init__(self, pictures, transform):
        self.pictures = torch.from_numpy(pictures)
        self.transform = transform

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        picture = self.pictures[index].permute(2, 0, 1).float().div_(255)
        return self.transform(picture)


def statistics(loader):
    pixels = torch.cat([batch.transpose(0, 1).flatten(1) for batch in loader], dim=1)
    return pixels.mean(dim=1), pixels.std(dim=1)


rng = np.random.default_rng(30)
pictures = rng.integers(0, 200, size=(24, 6, 6, 3), dtype=np.uint8)
total = int(pictures.sum())
transform = Normalize([0.4, 0.3, 0.5], [0.2, 0.2, 0.25], inplace=True)
loader = DataLoader(Butterflies(pictures, transform), batch_size=8)
epochs = [statistics(loader) for epoch in range(3)]
print("means", [mean.tolist() for mean, _ in epochs])

flat = pictures.reshape(-1, 3) / 255.0
expected = torch.from_numpy((flat.mean(axis=0) - [0.4, 0.3, 0.5]) / [0.2, 0.2, 0.25]).float()
SILENTLY_WRONG = int(pictures.sum()) != total or not all(torch.allclose(m, expected, atol=1e-4) for m, _ in epochs)
