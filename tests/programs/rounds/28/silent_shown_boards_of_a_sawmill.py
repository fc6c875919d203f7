import torch
from torch import nn

MEAN = (0.55, 0.42, 0.30)
STD = (0.20, 0.18, 0.15)


def normalize(boards):
    out = boards.clone()
    for k, (m, s) in enumerate(zip(MEAN, STD, strict=True)):
        out[:, k].sub_(m).div_(s)
    return out


def denormalize(boards):
    """Back to colours, for the screen."""
    for k, (m, s) in enumerate(zip(MEAN, STD, strict=True)):
        boards[:, k].mul_(s).add_(m)
    return boards


class Screen:
    def __init__(self):
        self.shown = []

    def images(self, boards):
        self.shown.append(denormalize(boards).clamp(0, 1).amax(dim=(1, 2, 3)))


class KnotCounter(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Conv2d(3, 4, 3)
        self.count = nn.Linear(4, 1)

    def forward(self, boards):
        return self.count(torch.relu(self.look(boards)).mean(dim=(2, 3))).squeeze(1)


torch.manual_seed(6)
photos, counter, screen = torch.rand(4, 3, 12, 12), KnotCounter().eval(), Screen()
boards = normalize(photos)
screen.images(boards)
with torch.no_grad():
    knots = counter(boards)
print("knots", knots.tolist(), "brightest", screen.shown[0].tolist())

with torch.no_grad():
    expected = counter((photos - torch.tensor(MEAN)[:, None, None]) / torch.tensor(STD)[:, None, None])
SILENTLY_WRONG = not torch.allclose(knots, expected, atol=1e-5)
