import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Reflex(nn.Module):
    """Weights live in one genome; gain and lean are views of it."""

    def __init__(self, sensors, motors):
        super().__init__()
        self.sensors, self.motors = sensors, motors
        self.genome = nn.Parameter(torch.zeros(motors * (sensors + 1), dtype=torch.float64))
        body = self.genome.detach()
        self.gain = nn.Parameter(body[:motors * sensors].view(motors, sensors))
        self.lean = nn.Parameter(body[motors * sensors:])

    def forward(self, x):
        return torch.tanh(F.linear(x, self.gain, self.lean))


@torch.no_grad()
def bred(parent, noise):
    child = copy.deepcopy(parent)
    child.genome.add_(noise)
    return child


@torch.no_grad()
def climb(parent, x, goal, noises):
    best = (parent(x) - goal).square().mean()
    for noise in noises:
        child = bred(parent, noise)
        miss = (child(x) - goal).square().mean()
        if miss < best:
            parent, best = child, miss
    return parent, best


torch.manual_seed(10)
x = torch.randn(30, 3, dtype=torch.float64)
goal = torch.tanh(x @ torch.randn(3, 2, dtype=torch.float64))
noises = 0.3 * torch.randn(60, 8, dtype=torch.float64)
toy, best = climb(Reflex(3, 2), x, goal, noises)

genes, least = torch.zeros(8, dtype=torch.float64), goal.square().mean()
for noise in noises:
    tried = genes + noise
    miss = (torch.tanh(x @ tried[:6].view(2, 3).T + tried[6:]) - goal).square().mean()
    if miss < least:
        genes, least = tried, miss
SILENTLY_WRONG = not torch.allclose(best, least)
