import torch
import torch.nn as nn


class Compress(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.register_buffer("limit", limit)

    def forward(self, x):
        if self.training:
            self.limit.copy_(torch.maximum(self.limit, x.abs().max()))
        return x / self.limit


class Expand(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.register_buffer("limit", limit)

    def forward(self, z):
        return z * self.limit


class RangeCoder(nn.Module):
    def __init__(self):
        super().__init__()
        limit = torch.ones(())
        self.compress = Compress(limit)
        self.expand = Expand(limit)

    def forward(self, x):
        z = self.compress(x).clamp(-1, 1)
        return self.expand(torch.round(z * 127) / 127)


torch.manual_seed(7)
coder = RangeCoder().double()
signal = 5 * torch.randn(4, 50, dtype=torch.float64)
for row in signal:
    coder(row)

coder.eval()
restored = coder(signal)
limit = signal.abs().max().clamp(min=1.0)
expected = torch.round(signal / limit * 127) / 127 * limit
SILENTLY_WRONG = not torch.allclose(restored, expected)
