import torch
import torch.nn as nn
import torch.nn.functional as F


def zero_module(module):
    for p in module.parameters():
        p.detach().zero_()
    return module


class ControlBranch(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.hint = nn.Conv2d(1, channels, 3, padding=1)
        self.project = zero_module(nn.Conv2d(channels, channels, 1))

    def forward(self, hint):
        return self.project(F.silu(self.hint(hint)))


class ControlledDenoiser(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.control = ControlBranch(channels)
        self.head = nn.Conv2d(channels, 3, 3, padding=1)
        self.apply(self._init_weights)

    def _init_weights(self, m):
        if isinstance(m, nn.Conv2d):
            nn.init.xavier_uniform_(m.weight)
            nn.init.zeros_(m.bias)

    def forward(self, x, hint=None):
        h = self.stem(x)
        if hint is not None:
            h = h + self.control(hint)
        return self.head(F.silu(h))


torch.manual_seed(0)
model = ControlledDenoiser().eval()
x = torch.randn(2, 3, 8, 8)
hint = torch.randn(2, 1, 8, 8)
with torch.no_grad():
    controlled = model(x, hint)
    expected = model.head(F.silu(model.stem(x)))

SILENTLY_WRONG = not torch.allclose(controlled, expected, atol=1e-6)
