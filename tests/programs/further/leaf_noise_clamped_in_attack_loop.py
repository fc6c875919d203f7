import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(6, 3)
x, y = torch.rand(2, 6), torch.tensor([0, 2])
delta = torch.zeros_like(x, requires_grad=True)

for _ in range(2):
    loss = F.cross_entropy(net(x + delta), y)
    grad = torch.autograd.grad(loss, delta)[0]
    with torch.no_grad():
        delta += 0.1 * grad.sign()
    delta.clamp_(-0.05, 0.05)
