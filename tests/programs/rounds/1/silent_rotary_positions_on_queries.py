import torch
import torch.nn as nn


class RotaryAttention(nn.Module):
    def __init__(self, dim, heads, max_len=32):
        super().__init__()
        self.heads, self.head_dim = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        freq = 1.0 / (100.0 ** (torch.arange(0, self.head_dim, 2) / self.head_dim))
        angle = torch.outer(torch.arange(max_len).float(), freq)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def rotate(self, x):
        half = self.head_dim // 2
        cos, sin = self.cos[: x.size(2)], self.sin[: x.size(2)]
        first, second = x[..., :half], x[..., half:]
        x[..., :half] = first * cos - second * sin
        x[..., half:] = second * cos + first * sin
        return x

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, self.head_dim).permute(2, 0, 3, 1, 4).unbind(0)
        scores = self.rotate(q) @ self.rotate(k).transpose(-1, -2) / self.head_dim ** 0.5
        return scores.softmax(-1) @ v


torch.manual_seed(0)
layer = RotaryAttention(16, 2).eval()
x = torch.randn(2, 7, 16)
with torch.no_grad():
    out = layer(x)

    q, k, v = layer.qkv(x).view(2, 7, 3, 2, 8).permute(2, 0, 3, 1, 4)
    turn = torch.complex(layer.cos[:7], layer.sin[:7])
    q = torch.complex(q[..., :4].contiguous(), q[..., 4:].contiguous()) * turn
    k = torch.complex(k[..., :4].contiguous(), k[..., 4:].contiguous()) * turn
    scores = torch.einsum("bhid,bhjd->bhij", q, k.conj()).real / 8 ** 0.5
    expected = scores.softmax(-1) @ v

SILENTLY_WRONG = not torch.allclose(out, expected, atol=1e-4)
