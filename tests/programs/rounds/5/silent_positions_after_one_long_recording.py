import torch
from torch import nn


class StretchingPositions(nn.Module):
    def __init__(self, dim, window, base=10000.0):
        super().__init__()
        self.dim, self.window, self.base = dim, window, base
        self.register_buffer("rate", self.rates(base))

    def rates(self, base):
        return base ** (-torch.arange(0, self.dim, 2) / self.dim)

    def forward(self, x):
        length = x.shape[1]
        if length > self.window:
            grown = self.base * (2 * length / self.window - 1) ** (self.dim / (self.dim - 2))
            self.rate.copy_(self.rates(grown))
        angle = torch.arange(length)[:, None] * self.rate
        cos, sin = angle.cos(), angle.sin()
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def scores(positions, query, key):
    return positions(query) @ positions(key).transpose(1, 2)


torch.manual_seed(12)
positions = StretchingPositions(dim=8, window=16)
short = torch.randn(1, 12, 8), torch.randn(1, 12, 8)
long = torch.randn(1, 64, 8), torch.randn(1, 64, 8)

results = [scores(positions, *pair) for pair in (short, long, short)]

rate = torch.tensor([10000.0 ** (-2 * k / 8) for k in range(4)])
query, key = (torch.view_as_complex(t.view(1, 12, 4, 2)) for t in short)
turn = torch.polar(torch.ones(12, 4), torch.arange(12)[:, None] * rate)
expected = torch.einsum("bqk,bsk->bqs", query * turn, (key * turn).conj()).real
SILENTLY_WRONG = not torch.allclose(results[2], expected, atol=1e-4)
