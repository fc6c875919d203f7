import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
pairs = [(p, torch.zeros_like(p)) for p in net.parameters()]
readout = nn.Linear(3, 1)
for step in range(4):
    net.zero_grad()
    net(torch.randn(5, 3)).square().mean().backward()
    for p, trace in pairs:
        trace.mul_(0.9)
        trace += p.grad
        with torch.no_grad():
            p -= 0.05 * trace
spikes = [(torch.randn(3), torch.randn(3)) for _ in range(2)]
for step in range(3):
    for membrane, current in spikes:
        membrane.mul_(0.5).add_(current)
        fired = readout(membrane).sigmoid()
