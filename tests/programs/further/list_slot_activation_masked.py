import torch
import torch.nn as nn

torch.manual_seed(0)
stages = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
x = torch.randn(2, 4)

maps = []
for stage in stages:
    x = torch.tanh(stage(x))
    maps.append(x)
hole = torch.tensor([[True, False, False, True], [False, True, False, False]])
maps[1].masked_fill_(hole, 0.0)
loss = sum(m.pow(2).mean() for m in maps)
loss.backward()
