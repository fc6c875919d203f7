import torch
import torch.nn as nn


class PictureAttention(nn.Module):
    def __init__(self, width, per_picture):
        super().__init__()
        self.per_picture = per_picture
        self.q = nn.Linear(width, width, bias=False)
        self.kv = nn.Linear(width, 2 * width, bias=False)

    def forward(self, text, pictures, starts):
        shown = starts.long().cumsum(dim=-1)
        owner = torch.arange(pictures.shape[1]) // self.per_picture + 1
        k, v = self.kv(pictures).chunk(2, dim=-1)
        score = self.q(text) @ k.transpose(-1, -2) / text.shape[-1] ** 0.5
        other = shown[:, :, None] != owner
        score.masked_fill_(other, -torch.finfo(score.dtype).max)
        weight = score.softmax(dim=-1)
        nothing = (shown == 0)[:, :, None]
        weight.masked_fill(nothing, 0.0)
        return weight @ v


torch.manual_seed(816)
layer = PictureAttention(width=8, per_picture=3)
text, pictures = torch.randn(2, 7, 8), torch.randn(2, 6, 8)
starts = torch.zeros(2, 7, dtype=torch.bool)
starts[0, 2] = starts[0, 5] = starts[1, 1] = starts[1, 4] = True
mixed = layer(text, pictures, starts)

expected = torch.zeros(2, 7, 8)
for b, first, second in ((0, 2, 5), (1, 1, 4)):
    for i in range(first, 7):
        part = pictures[b, 3:] if i >= second else pictures[b, :3]
        k, v = layer.kv(part).chunk(2, dim=-1)
        expected[b, i] = (k @ layer.q(text[b, i]) / 8 ** 0.5).softmax(dim=0) @ v
SILENTLY_WRONG = not torch.allclose(mixed, expected, atol=1e-5)
