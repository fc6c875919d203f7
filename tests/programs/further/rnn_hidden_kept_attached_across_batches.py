import torch
import torch.nn as nn

torch.manual_seed(0)
cell = nn.RNNCell(3, 5)
readout = nn.Linear(5, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *readout.parameters()], lr=0.1)
batches = torch.randn(3, 2, 4, 3)

hidden = torch.zeros(4, 5)
for batch in batches:
    for x in batch:
        hidden = cell(x, hidden)
    loss = readout(hidden).pow(2).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
