import copy

import torch
import torch.nn as nn


class BeatBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv1d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.GroupNorm(2, channels)
        self.conv2 = nn.Conv1d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.GroupNorm(2, channels)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        out = self.act(self.norm1(self.conv1(x)))
        out = self.norm2(self.conv2(out))
        out += x
        return self.act(out)


def plain(block, x):
    h = torch.relu(block.norm1(block.conv1(x)))
    return torch.relu(block.norm2(block.conv2(h)) + x)


torch.manual_seed(640)
net = nn.Sequential(BeatBlock(4), BeatBlock(4), BeatBlock(4))
twin = copy.deepcopy(net)
beats = torch.randn(5, 4, 20)
given = beats.clone()
target = torch.randn(5, 4, 20)
nn.functional.mse_loss(net(beats), target).backward()

h = given
for block in twin:
    h = plain(block, h)
nn.functional.mse_loss(h, target).backward()
same = [torch.allclose(p.grad, q.grad, atol=1e-6) for p, q in zip(net.parameters(), twin.parameters())]
SILENTLY_WRONG = not (all(same) and torch.equal(beats, given))
