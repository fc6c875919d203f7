import torch
import torch.nn as nn


class PeakRange(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("limit", torch.ones(()))

    def observe(self, x):
        self.limit.copy_(torch.maximum(self.limit, x.abs().max()))


class Compress(nn.Module):
    def __init__(self, peak):
        super().__init__()
        self.peak = peak

    def forward(self, x):
        if self.training:
            self.peak.observe(x)
        return torch.round(x / self.peak.limit * 127).clamp_(-127, 127)


class Expand(nn.Module):
    def __init__(self, peak):
        super().__init__()
        self.peak = peak

    def forward(self, codes):
        return codes / 127 * self.peak.limit


torch.manual_seed(27)
peak = PeakRange()
coder = nn.Sequential(Compress(peak), Expand(peak)).double()
signal = 5 * torch.randn(4, 50, dtype=torch.float64)
for row in signal:
    coder(row)

coder.eval()
restored = coder(signal)
limit = signal.abs().max()
expected = torch.round(signal / limit * 127) / 127 * limit
SILENTLY_WRONG = not torch.allclose(restored, expected)
