import torch
import torch.nn as nn

torch.manual_seed(0)
gru = nn.GRU(3, 4, batch_first=True)
readout = nn.Linear(4, 1)
hidden = torch.zeros(2, 4)
for batch in torch.randn(3, 2, 5, 3):
    hidden.detach_()
    outputs, _ = gru(batch, hidden.unsqueeze(0))
    hidden = outputs[:, -1]
    readout(hidden).mean().backward()
