import torch
import torch.nn as nn

torch.manual_seed(0)
backbone = nn.Linear(3, 4)
levels = [backbone(torch.randn(2, 3)) for _ in range(3)]
stacked = torch.stack(levels)
low, mid, high = stacked.unbind()
pad = torch.tensor([True, False])
stacked[:, pad] = 0.0
fused = low + mid + high
fused.sum().backward()
