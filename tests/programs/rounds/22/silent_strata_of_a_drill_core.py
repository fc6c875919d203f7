import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """Residual block whose norm and activation come before the convolutions."""

    def __init__(self, channels, exclude_bn0=False):
        super().__init__()
        if not exclude_bn0:
            self.bn0 = nn.BatchNorm1d(channels)
        self.conv1 = nn.Conv1d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm1d(channels)
        self.conv2 = nn.Conv1d(channels, channels, 3, padding=1, bias=False)
        self.relu = nn.ReLU(inplace=True)
        self.exclude_bn0 = exclude_bn0

    def forward(self, x):
        identity = x
        if self.exclude_bn0:
            out = self.relu(x)
        else:
            out = self.bn0(x)
            out = self.relu(out)
        out = self.conv1(out)
        out = self.bn1(out)
        out = self.relu(out)
        out = self.conv2(out)
        return out + identity


class StrataNet(nn.Module):
    def __init__(self, channels=6, classes=4):
        super().__init__()
        self.stem = nn.Conv1d(1, channels, 5, padding=2)
        self.blocks = nn.Sequential(Block(channels, exclude_bn0=True), Block(channels), Block(channels))
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean(dim=-1))


torch.manual_seed(13)
net = StrataNet().eval()
cores = torch.randn(8, 1, 40)
with torch.no_grad():
    scores = net(cores)
print("strata", scores.argmax(dim=1).tolist())

with torch.no_grad():
    h = net.stem(cores)
    for block in net.blocks:
        before = F.relu(h) if block.exclude_bn0 else F.relu(block.bn0(h))
        h = h + block.conv2(F.relu(block.bn1(block.conv1(before))))
    expected = net.head(h.mean(dim=-1))
SILENTLY_WRONG = not torch.allclose(scores, expected, atol=1e-5)
