import copy

import torch
from torch import nn


class Carpet(nn.Module):
    """Height of the pile at a spot: a sum of bands and a ground tone."""

    def __init__(self, bands, inner=6):
        super().__init__()
        self.bands = [nn.Sequential(nn.Linear(2, inner), nn.Tanh(), nn.Linear(inner, 1)) for _ in range(bands)]
        self.ground = nn.Linear(2, 1)

    def forward(self, spot):
        height = self.ground(spot)
        for band in self.bands:
            height = height + band(spot)
        return height.squeeze(-1)


def fit(carpet, spots, heights, steps=30, lr=0.05):
    optimizer = torch.optim.SGD(carpet.parameters(), lr=lr)
    for _ in range(steps):
        loss = (carpet(spots) - heights).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(21)
spots = 2 * torch.rand(50, 2) - 1
heights = torch.sin(3 * spots[:, 0]) * spots[:, 1] + 0.4
carpet = Carpet(bands=3)
copied = copy.deepcopy(carpet)
print("last loss", fit(carpet, spots, heights))

every = [p for part in [copied.ground, *copied.bands] for p in part.parameters()]
for _ in range(30):
    grads = torch.autograd.grad((copied(spots) - heights).square().mean(), every)
    for p, g in zip(every, grads, strict=True):
        p.data -= 0.05 * g
SILENTLY_WRONG = not torch.allclose(carpet(spots), copied(spots), atol=1e-4)
