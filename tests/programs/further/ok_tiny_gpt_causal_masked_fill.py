import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.register_buffer("future", torch.ones(8, 8, dtype=torch.bool).triu(1))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (p.view(b, t, self.heads, -1).transpose(1, 2) for p in self.qkv(self.ln1(x)).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        scores.masked_fill_(self.future[:t, :t], float("-inf"))
        mixed = scores.softmax(-1) @ v
        x = x + self.proj(mixed.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.ln2(x))


torch.manual_seed(0)
wte, wpe = nn.Embedding(17, 8), nn.Embedding(8, 8)
blocks, lm_head = nn.Sequential(Block(8, 2), Block(8, 2)), nn.Linear(8, 17, bias=False)
lm_head.weight = wte.weight
optimizer = torch.optim.AdamW([*wte.parameters(), *wpe.parameters(), *blocks.parameters()], lr=1e-3)
ids = torch.randint(0, 17, (2, 8))
for _ in range(2):
    logits = lm_head(blocks(wte(ids) + wpe(torch.arange(8))))
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
