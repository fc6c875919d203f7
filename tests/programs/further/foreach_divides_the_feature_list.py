import torch
import torch.nn as nn

torch.manual_seed(0)
stages = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
x = torch.randn(3, 4)
feats = []
for stage in stages:
    x = torch.sigmoid(stage(x))
    feats.append(x)
scale = [f.detach().norm() for f in feats]
torch._foreach_div_(feats, scale)
loss = sum(f.square().sum() for f in feats)
loss.backward()
