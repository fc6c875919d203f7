import torch
import torch.nn as nn

IMAGE_TOKEN = 9


class VisionLanguageStem(nn.Module):
    def __init__(self, vocab_size=10, dim=4):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim)
        self.project = nn.Linear(6, dim)

    def forward(self, input_ids, patches):
        # Sequence first, as the decoder wants it.
        hidden = self.embed(input_ids).transpose(0, 1).contiguous()
        mask = (input_ids == IMAGE_TOKEN).t().unsqueeze(-1).expand_as(hidden)
        hidden.masked_scatter_(mask, self.project(patches))
        return hidden


def build_batch():
    ids = torch.tensor([
        [1, 9, 9, 9, 2, 3],
        [9, 9, 4, 9, 5, 6],
    ])
    gen = torch.Generator().manual_seed(5)
    patches = torch.randn(6, 6, generator=gen)
    return ids, patches


torch.manual_seed(0)
stem = VisionLanguageStem()
ids, patches = build_batch()
with torch.no_grad():
    hidden = stem(ids, patches)
    rows, used = [], 0
    for sample in ids.tolist():
        vectors = []
        for token in sample:
            if token == IMAGE_TOKEN:
                vectors.append(stem.project(patches[used]))
                used += 1
            else:
                vectors.append(stem.embed.weight[token])
        rows.append(torch.stack(vectors))
    expected = torch.stack(rows, dim=1)

SILENTLY_WRONG = not torch.allclose(hidden, expected, atol=1e-5)
