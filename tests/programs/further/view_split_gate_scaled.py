import torch
import torch.nn as nn


def glu(x):
    parts = torch.split(x, x.shape[-1] // 2, dim=-1)
    parts[0].mul_(parts[1].sigmoid())
    return parts[0]


torch.manual_seed(0)
up, down = nn.Linear(3, 8), nn.Linear(4, 1)
out = down(glu(up(torch.randn(5, 3))))
out.mean().backward()
