import torch
import torch.nn as nn

torch.manual_seed(0)
cell = nn.GRUCell(3, 5)
readout = nn.Linear(5, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *readout.parameters()], lr=0.01)
signal = torch.sin(torch.linspace(0, 6, 12)).view(12, 1, 1).expand(12, 2, 3)

hidden = torch.zeros(2, 5)
for window in signal.split(4):
    hidden.detach_()
    error = 0.0
    for step in window:
        hidden = cell(step, hidden)
        error = error + (readout(hidden) - step[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    error.backward()
    optimizer.step()
