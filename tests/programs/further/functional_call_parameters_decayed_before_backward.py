import torch
import torch.nn as nn
from torch.func import functional_call

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
params = {k: v * 1.0 for k, v in net.named_parameters()}
x = torch.randn(6, 3)
out = functional_call(net, params, (x,))
for v in params.values():
    v.mul_(0.99)
out.square().mean().backward()
