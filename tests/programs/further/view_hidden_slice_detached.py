import torch
import torch.nn as nn

torch.manual_seed(0)
cell, out = nn.GRUCell(3, 4), nn.Linear(4, 1)
states = torch.zeros(2, 4)
optimizer = torch.optim.SGD([*cell.parameters(), *out.parameters()], lr=0.1)
for x in torch.randn(3, 2, 3):
    h = cell(x, states)[:, :]
    loss = out(h).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    h.detach_()
    states = h
