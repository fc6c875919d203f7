import torch
import torch.nn.functional as F
from torch import nn


class SplitAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.o = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.o(mixed.transpose(1, 2).flatten(2))


@torch.no_grad()
def fuse(split, dim):
    fused = nn.MultiheadAttention(dim, split.heads, batch_first=True)
    parts = zip(fused.in_proj_weight.chunk(3), fused.in_proj_bias.chunk(3))
    for (weight, bias), layer in zip(parts, (split.q, split.k, split.v)):
        weight.copy_(layer.weight)
        bias.copy_(layer.bias)
    fused.out_proj.load_state_dict(split.o.state_dict())
    return fused


torch.manual_seed(5)
split = SplitAttention(16, 4)
fused = fuse(split, 16)
for p in split.parameters():
    p.requires_grad_(False)
x = torch.randn(3, 9, 16)
output, _ = fused(x, x, x, need_weights=False)
SILENTLY_WRONG = not torch.allclose(output, split(x), atol=1e-5)
