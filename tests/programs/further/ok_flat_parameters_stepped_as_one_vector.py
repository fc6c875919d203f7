import torch
import torch.nn as nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
flat = parameters_to_vector(net.parameters()).detach().clone()
vector_to_parameters(flat, net.parameters())
x, y = torch.randn(6, 3), torch.randn(6, 1)
losses = []
for _ in range(3):
    loss = (net(x) - y).pow(2).mean()
    grads = torch.autograd.grad(loss, list(net.parameters()))
    flat.sub_(torch.cat([g.flatten() for g in grads]), alpha=0.1)
    losses.append(loss.item())
assert losses[2] < losses[0]
