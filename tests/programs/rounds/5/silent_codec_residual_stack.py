import torch
import torch.nn.functional as F
from torch import nn


class ResBlock(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.branch = nn.Sequential(
            nn.ReLU(inplace=True),
            nn.Conv1d(width, hidden, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv1d(hidden, width, 1),
        )

    def forward(self, x):
        out = self.branch(x)
        out += x
        return out


class Encoder(nn.Module):
    def __init__(self, width=12, blocks=3):
        super().__init__()
        self.stem = nn.Conv1d(1, width, 4, stride=2, padding=1)
        self.blocks = nn.Sequential(*[ResBlock(width, 6) for _ in range(blocks)])

    def forward(self, wave):
        return self.blocks(self.stem(wave))


torch.manual_seed(3)
encoder = Encoder()
wave = torch.randn(4, 1, 64)
code = encoder(wave)

h = F.conv1d(wave, encoder.stem.weight, encoder.stem.bias, stride=2, padding=1)
for block in encoder.blocks:
    first, second = block.branch[1], block.branch[3]
    inner = F.relu(F.conv1d(F.relu(h), first.weight, first.bias, padding=1))
    h = h + F.conv1d(inner, second.weight, second.bias)
SILENTLY_WRONG = not torch.allclose(code, h, atol=1e-5)
