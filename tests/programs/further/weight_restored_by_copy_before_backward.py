import copy

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
x, y = torch.randn(8, 3), torch.randn(8, 1)
clean = copy.deepcopy(net.state_dict())

with torch.no_grad():
    for p in net.parameters():
        p.add_(0.01 * torch.randn_like(p))
loss = (net(x) - y).pow(2).mean()
net.load_state_dict(clean)
loss.backward()
