import torch
import torch.nn.functional as F
from torch import nn


class BasicBlock(nn.Module):
    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv1d(inplanes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm1d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv1d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm1d(planes)
        self.downsample = None
        if stride != 1 or inplanes != planes:
            self.downsample = nn.Sequential(nn.Conv1d(inplanes, planes, 1, stride=stride, bias=False), nn.BatchNorm1d(planes))

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class KelpNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv1d(2, 6, 5, padding=2), nn.ReLU(inplace=True))
        self.layer1 = BasicBlock(6, 6)
        self.layer2 = BasicBlock(6, 10, stride=2)
        self.head = nn.Linear(10, 2)

    def forward(self, x):
        return self.head(self.layer2(self.layer1(self.stem(x))).mean(dim=-1))


torch.manual_seed(44)
net = KelpNet().eval()
strips = torch.randn(6, 2, 32)
scores = net(strips)
scores.sum().backward()
print("kelp", scores.argmax(dim=1).tolist())

with torch.no_grad():
    h = F.relu(net.stem[0](strips))
    for block in (net.layer1, net.layer2):
        side = h if block.downsample is None else block.downsample(h)
        h = F.relu(block.bn2(block.conv2(F.relu(block.bn1(block.conv1(h))))) + side)
    expected = net.head(h.mean(dim=-1))
SILENTLY_WRONG = not torch.allclose(scores, expected, atol=1e-5)
