import torch
import torch.nn as nn


class DistanceAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.fall = nn.Parameter(torch.rand(heads))

    def bias(self, batch, length):
        place = torch.arange(length, dtype=torch.float32)
        table = (place[:, None] - place[None, :]).abs_()
        table.clamp_(max=4.0)
        scaled = -self.fall[:, None, None] * table
        return scaled.expand(batch, -1, -1, -1)

    def forward(self, x, lengths):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2)
        scores += self.bias(batch, length)
        hidden = torch.arange(length)[None] >= lengths[:, None]
        scores.masked_fill_(hidden[:, None, None], float("-inf"))
        mixed = scores.softmax(dim=-1) @ v
        return mixed.transpose(1, 2).reshape(batch, length, width)


torch.manual_seed(55)
layer = DistanceAttention(width=6, heads=2)
x, lengths = torch.randn(3, 7, 6), torch.tensor([7, 5, 3])
layer(x, lengths)[:, 0].pow(2).sum().backward()

total = 0.0
for i, n in enumerate(lengths.tolist()):
    parts = layer.qkv(x[i, :n]).view(n, 3, 2, 3)
    for h in range(2):
        q, k, v = parts[:, 0, h], parts[:, 1, h], parts[:, 2, h]
        gap = torch.arange(n).float().clamp(max=4.0)
        total = total + ((q[0] @ k.T - layer.fall[h] * gap).softmax(dim=0) @ v).pow(2).sum()
expected = torch.autograd.grad(total, [layer.fall, layer.qkv.weight])
SILENTLY_WRONG = not (torch.allclose(layer.fall.grad, expected[0], atol=1e-5)
                      and torch.allclose(layer.qkv.weight.grad, expected[1], atol=1e-5))
