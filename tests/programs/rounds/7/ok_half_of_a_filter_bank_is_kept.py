import math

import torch
import torch.nn as nn


def wavelets(count, size):
    t = torch.linspace(-1, 1, size)
    return torch.stack([torch.cos(math.pi * (k + 1) * t) * torch.exp(-3 * t * t) for k in range(count)])


class KeepRows:
    def __init__(self, weight, rows):
        self.weight, self.rows = weight, rows

    def __enter__(self):
        self.saved = self.weight.detach()[self.rows]

    def __exit__(self, *problem):
        with torch.no_grad():
            self.weight[self.rows] = self.saved


torch.manual_seed(97)
bank = nn.Conv1d(1, 8, 9, bias=False)
head = nn.Linear(8, 2)
fixed = torch.tensor([0, 2, 4, 6])
with torch.no_grad():
    bank.weight[fixed, 0] = wavelets(4, 9)
free = torch.tensor([1, 3, 5, 7])
rows, outer = bank.weight.detach()[free], [p.detach().clone() for p in head.parameters()]
optimizer = torch.optim.AdamW(list(bank.parameters()) + list(head.parameters()), lr=0.02, weight_decay=0.1)
x, y = torch.randn(20, 1, 30), torch.randint(0, 2, (20,))
for _ in range(8):
    optimizer.zero_grad()
    nn.functional.cross_entropy(head(bank(x).relu().mean(dim=2)), y).backward()
    with KeepRows(bank.weight, fixed):
        optimizer.step()

small = [t.requires_grad_() for t in (rows, *outer)]
twin = torch.optim.AdamW(small, lr=0.02, weight_decay=0.1)
for _ in range(8):
    whole = torch.zeros(8, 1, 9).index_copy(0, fixed, wavelets(4, 9)[:, None]).index_copy(0, free, small[0])
    z = nn.functional.conv1d(x, whole).relu().mean(dim=2)
    loss = nn.functional.cross_entropy(z @ small[1].T + small[2], y)
    for t, g in zip(small, torch.autograd.grad(loss, small)):
        t.grad = g
    twin.step()
SILENTLY_WRONG = not (torch.equal(bank.weight[fixed, 0], wavelets(4, 9))
                      and torch.allclose(bank.weight[free], small[0], atol=1e-5))
