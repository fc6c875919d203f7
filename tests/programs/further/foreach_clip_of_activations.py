import torch
import torch.nn as nn

torch.manual_seed(0)
heads = nn.ModuleList(nn.Linear(4, 3) for _ in range(2))
x = torch.randn(5, 4)

gates = []
for head in heads:
    gates.append(torch.sigmoid(head(x)))
with torch.no_grad():
    torch._foreach_clamp_max_(gates, 0.6)
loss = gates[0].sum() + gates[1].sum()
loss.backward()
