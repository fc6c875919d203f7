import torch
import torch.nn as nn
import torch.nn.functional as F


class ResidualBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.left = nn.Sequential(
            nn.Conv2d(channels, channels, 3, 1, 1),
            nn.ReLU(inplace=True),
            nn.Conv2d(channels, channels, 3, 1, 1),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        residual = x
        out = self.left(x)
        out += residual
        return F.relu(out)


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 3, 1), ResidualBlock(3))
net(torch.randn(2, 1, 5, 5)).mean().backward()
