import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x):
        n = self.ln1(x)
        x = x + self.attn(n, n, n, need_weights=False)[0]
        x += self.mlp(self.ln2(x))
        return x


torch.manual_seed(0)
model = nn.Sequential(Block(4), Block(4))
model(torch.randn(2, 3, 4)).mean().backward()
