from dataclasses import dataclass

import torch


@dataclass
class Slot:
    rows: torch.Tensor
    used: int = 0


class Padder:
    """Batches brought to a few fixed lengths in memory that is used again for every batch."""

    def __init__(self, lengths):
        self.lengths = sorted(lengths)
        self.slots = {}

    def __call__(self, rows):
        length = next(n for n in self.lengths if n >= len(rows))
        if length not in self.slots:
            self.slots[length] = Slot(torch.zeros(length, rows.shape[1]))
        slot = self.slots[length]
        slot.rows[:len(rows)] = rows
        if len(rows) < slot.used:
            slot.rows[len(rows):slot.used] = 0
        slot.used = len(rows)
        return slot.rows


class Apiary:
    def __init__(self, padder, loss):
        self.padder, self.loss = padder, loss
        self.totals = []

    def day(self, weights):
        block = self.padder(weights)
        block *= 1 - self.loss
        self.totals.append(block.sum(dim=0))


torch.manual_seed(20)
days = [20 + 30 * torch.rand(n, 3) for n in (9, 5, 12, 16, 2, 8, 15)]
apiary = Apiary(Padder([8, 16]), loss=0.05)
for weights in days:
    apiary.day(weights)
totals = torch.stack(apiary.totals)
print("honey by day", totals.sum(dim=1).tolist())

expected = [[0.95 * sum(column) for column in zip(*weights.tolist())] for weights in days]
SILENTLY_WRONG = not torch.allclose(totals, torch.tensor(expected), rtol=1e-4)
