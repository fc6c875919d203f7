import torch
import torch.nn as nn

PAD, IGNORE = 0, -100


def collate(lines, prompt):
    longest = max(len(line) for line in lines)
    ids = torch.full((len(lines), longest), PAD)
    for row, line in zip(ids, lines):
        row[:len(line)] = line
    labels = ids.masked_fill(ids == PAD, IGNORE)
    labels[:, :prompt] = IGNORE
    return {"ids": ids, "labels": labels}


class LineModel(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width, padding_idx=PAD)
        self.cell = nn.GRU(width, width, batch_first=True)

    def forward(self, ids):
        return self.cell(self.table(ids))[0] @ self.table.weight.T


torch.manual_seed(855)
model = LineModel(words=40, width=10)
lines = [torch.randint(1, 40, (n,)) for n in (12, 7, 9)]
batch = collate(lines, prompt=3)
scores = model(batch["ids"])[:, :-1]
loss = nn.functional.cross_entropy(scores.flatten(0, 1), batch["labels"][:, 1:].flatten(), ignore_index=IGNORE)

parts = [nn.functional.cross_entropy(model(line[None])[0, 2:-1], line[3:], reduction="sum") for line in lines]
expected = sum(parts) / sum(len(line) - 3 for line in lines)
SILENTLY_WRONG = not torch.allclose(loss, expected, atol=1e-5)
