import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
for step in range(2):
    net.zero_grad()
    (net(torch.randn(8, 4) * 10) ** 2).mean().backward()
    grads = [p.grad for p in net.parameters()]
    before = torch.cat([g.flatten() for g in grads]).norm().item()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    with torch.no_grad():
        for p, g in zip(net.parameters(), grads):
            p.sub_(g, alpha=0.1)
