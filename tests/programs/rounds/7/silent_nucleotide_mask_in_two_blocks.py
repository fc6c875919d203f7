import torch
import torch.nn as nn


class PairlessBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x, mask):
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        bias = mask.float()
        bias[bias == 0] = -1e4
        bias[bias == 1] = 0.0
        scores = q @ k.transpose(1, 2) / k.shape[-1] ** 0.5 + bias[:, None, :]
        return x + scores.softmax(dim=-1) @ v


class RnaEncoder(nn.Module):
    def __init__(self, width=8, depth=2):
        super().__init__()
        self.embed = nn.Embedding(5, width)
        self.blocks = nn.ModuleList(PairlessBlock(width) for _ in range(depth))
        self.out = nn.Linear(width, 2)

    def forward(self, tokens, mask):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, mask)
        return self.out(x)


torch.manual_seed(9)
encoder = RnaEncoder()
lengths = [9, 6, 4]
tokens = torch.zeros(3, 9, dtype=torch.long)
for i, n in enumerate(lengths):
    tokens[i, :n] = torch.randint(1, 5, (n,))
mask = (tokens > 0).float()

with torch.no_grad():
    reactivity = encoder(tokens, mask)
    single = [encoder(tokens[i:i + 1, :n], torch.ones(1, n, dtype=torch.long))[0] for i, n in enumerate(lengths)]
SILENTLY_WRONG = not all(torch.allclose(reactivity[i, :n], single[i], atol=1e-5) for i, n in enumerate(lengths))
