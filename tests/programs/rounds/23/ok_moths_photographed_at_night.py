import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class ToTensor:
    def __call__(self, picture):
        return torch.from_numpy(picture).permute(2, 0, 1).float().div_(255)


class Normalize:
    """With inplace=True the tensor that comes in is changed and handed on."""

    def __init__(self, mean, std, inplace=False):
        self.mean, self.std = torch.tensor(mean)[:, None, None], torch.tensor(std)[:, None, None]
        self.inplace = inplace

    def __call__(self, tensor):
        if not self.inplace:
            tensor = tensor.clone()
        return tensor.sub_(self.mean).div_(self.std)


class Moths(Dataset):
    """Pictures of a light trap, held in memory as bytes."""

    def __init__(self, pictures, steps):
        self.pictures, self.steps = pictures, steps

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        sample = self.pictures[index]
        for step in self.steps:
            sample = step(sample)
        return sample


rng = np.random.default_rng(36)
pictures = [rng.integers(0, 256, size=(6, 6, 3), dtype=np.uint8) for _ in range(20)]
mean, std = [0.45, 0.5, 0.55], [0.3, 0.25, 0.2]
loader = DataLoader(Moths(pictures, [ToTensor(), Normalize(mean, std, inplace=True)]), batch_size=5)

history = []
for epoch in range(3):
    total = torch.zeros(3)
    for batch in loader:
        total += batch.square().mean(dim=(2, 3)).sum(dim=0)
    history.append((total / len(pictures)).tolist())
    print("epoch", epoch, "power by channel", history[-1])

stack = np.stack(pictures).astype(np.float64) / 255
power = (((stack - np.array(mean)) / np.array(std)) ** 2).mean(axis=(0, 1, 2))
SILENTLY_WRONG = not np.allclose(np.array(history), power, atol=1e-4)
