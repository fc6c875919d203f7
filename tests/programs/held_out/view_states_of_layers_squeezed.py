import torch
from torch import nn


class StackedGRU(nn.Module):
    def __init__(self, inputs, hidden, layers):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(layers, 1, hidden))
        self.cells = nn.ModuleList(nn.GRUCell(inputs if i == 0 else hidden, hidden) for i in range(layers))

    def forward(self, sequence):
        hx = torch.tanh(self.start + 0.1).unbind(0)
        hx = [state.squeeze_(0) for state in hx]
        for x in sequence:
            for i, cell in enumerate(self.cells):
                hx[i] = cell(x, hx[i])
                x = hx[i]
        return x


torch.manual_seed(0)
gru = StackedGRU(2, 3, 2)
loss = gru(torch.randn(4, 2)).pow(2).sum()
loss.backward()
