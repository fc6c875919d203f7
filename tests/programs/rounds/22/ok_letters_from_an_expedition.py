import torch
from torch import nn


class PaddedAttention(nn.Module):
    """Attention over letters of unequal length in one padded batch."""

    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)

    @torch.no_grad()
    def forward(self, words, lengths):
        query, key, value = self.qkv(words).chunk(3, dim=-1)
        pad = torch.arange(words.shape[1])[None, :] >= lengths[:, None]
        for t in (query, key, value):
            t[pad] = 0.0
        scores = query @ key.transpose(1, 2) / key.shape[-1] ** 0.5
        scores.masked_fill_(pad[:, None, :], float("-inf"))
        mixed = scores.softmax(dim=-1) @ value
        for row, length in zip(mixed, lengths.tolist()):
            row[length:].zero_()
        return mixed.sum(dim=1) / lengths[:, None]


torch.manual_seed(47)
attention = PaddedAttention(dim=6)
table = nn.Embedding(40, 6)
lengths = torch.tensor([9, 3, 6])
letters = torch.randint(40, (3, 9))
with torch.no_grad():
    words = table(letters)
before = words.clone()
summary = attention(words, lengths)
print("summaries", summary[:, :2].tolist())

expected = []
with torch.no_grad():
    for letter, length in zip(letters, lengths.tolist()):
        x = table(letter[:length])
        w, b = attention.qkv.weight, attention.qkv.bias
        q, k, v = (x @ w[s:s + 6].T + b[s:s + 6] for s in (0, 6, 12))
        expected.append((torch.softmax(q @ k.T / 6 ** 0.5, dim=1) @ v).mean(dim=0))
SILENTLY_WRONG = not (torch.allclose(summary, torch.stack(expected), atol=1e-5) and torch.equal(words, before))
