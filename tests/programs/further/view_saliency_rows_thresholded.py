import torch
import torch.nn as nn

torch.manual_seed(0)
layer = nn.Linear(4, 4)
rows = layer(torch.randn(3, 4)).unbind(0)
kept = []
for row in rows:
    row.clamp_(min=0.0)
    kept.append(row)
torch.stack(kept).sum().backward()
