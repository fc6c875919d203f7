import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

PAD, IGNORE = 0, -100


def collate(recipes):
    batch = {"input_ids": pad_sequence(recipes, batch_first=True, padding_value=PAD)}
    labels = batch["input_ids"]
    labels[labels == PAD] = IGNORE
    batch["labels"] = labels
    return batch


class PooledReader(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Parameter(torch.randn(words, width) * 0.5)
        self.mix = nn.Linear(2 * width, width)

    def forward(self, ids):
        known = (ids != PAD).unsqueeze(-1)
        rows = self.table[ids]
        pooled = (rows * known).sum(dim=1, keepdim=True) / known.sum(dim=1, keepdim=True)
        joined = torch.cat([rows, pooled.expand_as(rows)], dim=-1)
        return torch.tanh(self.mix(joined)) @ self.table.T


def batch_loss(model, batch):
    scores = model(batch["input_ids"])[:, :-1]
    target = batch["labels"][:, 1:]
    return nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), ignore_index=IGNORE)


torch.manual_seed(805)
model = PooledReader(words=150, width=12)
recipes = [torch.randint(1, 150, (n,)) for n in (11, 4, 7, 5)]
loss = batch_loss(model, collate(recipes))

single = [nn.functional.cross_entropy(model(r[None])[0, :-1], r[1:], reduction="sum") for r in recipes]
expected = sum(single) / sum(len(r) - 1 for r in recipes)
SILENTLY_WRONG = not torch.allclose(loss, expected, atol=1e-4)
