import torch
import torch.nn as nn


class CachedAttention(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.q, self.kv = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.register_buffer("k", torch.zeros(1, length, width))
        self.register_buffer("v", torch.zeros(1, length, width))

    def forward(self, x, position):
        key, value = self.kv(x).chunk(2, dim=-1)
        self.k.index_copy_(1, position, key)
        self.v[:, position] = value
        used = int(position[-1]) + 1
        scores = self.q(x) @ self.k[:, :used].transpose(1, 2)
        return scores.softmax(-1) @ self.v[:, :used]


torch.manual_seed(0)
layer = CachedAttention(4, 8).eval()
out = nn.Linear(4, 4)
x = torch.randn(1, 3, 4)
with torch.no_grad():
    h = layer(x, torch.arange(3))
    for t in range(3, 6):
        h = layer(out(h[:, -1:]), torch.tensor([t]))
        h.mul_(0.5)
