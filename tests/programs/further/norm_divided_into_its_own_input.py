import torch
import torch.nn as nn


class L2Norm(nn.Module):
    def __init__(self, channels, scale):
        super().__init__()
        self.weight = nn.Parameter(torch.full((channels,), scale))

    def forward(self, x):
        norm = x.pow(2).sum(dim=1, keepdim=True).sqrt() + 1e-10
        x /= norm
        return self.weight.view(1, -1, 1, 1) * x


torch.manual_seed(0)
conv, l2 = nn.Conv2d(2, 4, 1), L2Norm(4, 20.0)
out = l2(conv(torch.randn(1, 2, 3, 3)))
out.sum().backward()
