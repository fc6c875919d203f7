import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
(net(x) - y).square().mean().backward()
grads = [p.grad for p in net.parameters()]
for step in range(3):
    for g in grads:
        g.zero_()
    (net(x) - y).square().mean().backward()
    norm = sum(g.square().sum() for g in grads).sqrt()
    with torch.no_grad():
        for p, g in zip(net.parameters(), grads):
            p -= 0.1 * g / norm.clamp(min=1)
