import torch
import torch.nn.functional as F
from torch import nn


class NoteAttention(nn.Module):
    """Attention within notes that come padded to the longest one."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)

    def split(self, x):
        return x.view(x.shape[0], self.heads, -1).transpose(0, 1)

    def forward(self, words, length):
        query, key, value = (self.split(part) for part in self.qkv(words).chunk(3, dim=-1))
        for t in (query, key, value):
            t = t[:, :length]
        scores = query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5
        mixed = scores.softmax(dim=-1) @ value
        return mixed.transpose(0, 1).flatten(1)


class NoteEncoder(nn.Module):
    def __init__(self, words, dim, heads):
        super().__init__()
        self.table = nn.Embedding(words, dim)
        self.attention = NoteAttention(dim, heads)

    def forward(self, notes):
        longest = max(len(note) for note in notes)
        summaries = []
        for note in notes:
            padded = F.pad(note, (0, longest - len(note)))
            mixed = self.attention(self.table(padded), len(note))
            summaries.append(mixed[:len(note)].mean(dim=0))
        return torch.stack(summaries)


torch.manual_seed(27)
encoder = NoteEncoder(words=50, dim=12, heads=3)
notes = [torch.randint(1, 50, (n,)) for n in (16, 5, 9)]
with torch.no_grad():
    summary = encoder(notes)
print("summaries", summary[:, :3].tolist())

expected = []
with torch.no_grad():
    for note in notes:
        q, k, v = encoder.attention.qkv(encoder.table(note)).chunk(3, dim=-1)
        parts = []
        for h in range(3):
            s = slice(4 * h, 4 * h + 4)
            parts.append(torch.softmax(q[:, s] @ k[:, s].T / 2.0, dim=1) @ v[:, s])
        expected.append(torch.cat(parts, dim=1).mean(dim=0))
SILENTLY_WRONG = not torch.allclose(summary, torch.stack(expected), atol=1e-5)
