import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(dim))
        self.eps = eps

    def forward(self, x):
        dtype = x.dtype
        x = x.float()
        variance = x.pow(2).mean(dim=-1, keepdim=True)
        x.mul_(torch.rsqrt(variance + self.eps))
        return x.to(dtype) * self.weight


class FeedForwardLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = RMSNorm(dim)
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)

    def forward(self, hidden):
        residual = hidden
        hidden = self.norm(hidden)
        hidden = self.down(torch.nn.functional.silu(self.up(hidden)))
        return residual + hidden


torch.manual_seed(1)
layers = nn.ModuleList([FeedForwardLayer(16) for _ in range(4)])
frames = 3 * torch.randn(2, 30, 16)

with torch.inference_mode():
    hidden = frames.clone()
    for layer in layers:
        hidden = layer(hidden)

    expected = frames.clone()
    for layer in layers:
        scale = (expected.square().mean(-1, keepdim=True) + 1e-6).sqrt()
        normed = expected / scale * layer.norm.weight
        expected = expected + layer.down(torch.nn.functional.silu(layer.up(normed)))
SILENTLY_WRONG = not torch.allclose(hidden, expected, atol=1e-4)
