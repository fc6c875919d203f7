import torch
import torch.nn as nn


def scan(x, cell, state=torch.zeros(4)):
    for row in x:
        state += cell(row).detach().tanh()
    return state


torch.manual_seed(0)
cell, head = nn.Linear(2, 4), nn.Linear(4, 1)
x = torch.randn(3, 2)
first = head(scan(x, cell))
first.sum().backward()
honest = first.detach().clone()
second = head(scan(x, cell))
second.sum().backward()
SILENTLY_WRONG = not torch.allclose(second, honest)
