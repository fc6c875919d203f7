import torch
import torch.nn as nn


class Cell(nn.Module):
    def __init__(self, n, h):
        super().__init__()
        self.x2h, self.h2h = nn.Linear(n, 4 * h), nn.Linear(h, 4 * h)

    def forward(self, x, state):
        h, c = state
        i, f, g, o = (self.x2h(x) + self.h2h(h)).split(h.shape[1], 1)
        i.sigmoid_(), f.sigmoid_(), o.sigmoid_(), g.tanh_()
        c = f * c + i * g
        return o * torch.tanh(c), c


torch.manual_seed(0)
cell = Cell(3, 2)
state = torch.zeros(1, 2), torch.zeros(1, 2)
for x in torch.randn(4, 1, 3):
    state = cell(x, state)
state[0].sum().backward()
