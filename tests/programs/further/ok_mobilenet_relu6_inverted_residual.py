import torch
import torch.nn as nn
import torch.nn.functional as F


class InvertedResidual(nn.Module):
    def __init__(self, channels, expand):
        super().__init__()
        hidden = channels * expand
        self.conv = nn.Sequential(
            nn.Conv2d(channels, hidden, 1, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, hidden, 3, padding=1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, channels, 1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x):
        return x + self.conv(x)


torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.Hardswish(inplace=True), InvertedResidual(4, 2), InvertedResidual(4, 2)
)
fc = nn.Linear(4, 2)
logits = fc(net(torch.randn(4, 3, 8, 8)).mean((2, 3)))
loss = F.cross_entropy(logits, torch.tensor([0, 1, 1, 0]))
loss.backward()
