import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

torch.manual_seed(0)
block = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Conv2d(4, 2, 1))
layers = nn.Sequential(*(nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True)) for _ in range(4)))
x = torch.randn(2, 2, 4, 4, requires_grad=True)

y = checkpoint(block, x, use_reentrant=False)
z = checkpoint(block, y, use_reentrant=True)
w = checkpoint_sequential(layers, 2, z, use_reentrant=False)
w.pow(2).mean().backward()
