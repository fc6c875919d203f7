import copy

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)


class CentredBlock(nn.Module):
    def __init__(self, dim, momentum=0.1):
        super().__init__()
        self.inner = nn.Linear(dim, dim)
        self.outer = nn.Linear(dim, dim)
        self.momentum = momentum
        self.register_buffer("centre", torch.zeros(dim))

    def forward(self, x):
        h = torch.relu(self.inner(x))
        if self.training:
            mean = h.mean(0)
            self.centre.lerp_(mean.detach(), self.momentum)
        else:
            mean = self.centre
        return x + self.outer(h - mean)


class Tower(nn.Module):
    def __init__(self, dim=6, depth=3, save_memory=True):
        super().__init__()
        self.blocks = nn.ModuleList(CentredBlock(dim) for _ in range(depth))
        self.save_memory = save_memory

    def forward(self, x):
        for block in self.blocks:
            if self.save_memory and self.training:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return x


def fit(tower, batches):
    optimizer = torch.optim.SGD(tower.parameters(), lr=0.05)
    for x in batches:
        optimizer.zero_grad()
        tower(x).square().mean().backward()
        optimizer.step()
    return tower.eval()


tower = Tower()
plain = copy.deepcopy(tower)
plain.save_memory = False
batches = torch.randn(5, 16, 6)
x = torch.randn(4, 6)
out, expected = fit(tower, batches)(x), fit(plain, batches)(x)
SILENTLY_WRONG = not torch.allclose(out, expected, atol=1e-5)
