import copy

import torch
from torch import nn


def federated_mean(nets):
    joint = copy.deepcopy(nets[0])
    with torch.no_grad():
        for k, p in enumerate(joint.parameters()):
            for other in nets[1:]:
                p.add_(list(other.parameters())[k])
            p.div_(len(nets))
    return joint


def fitted(x, y, seed):
    torch.manual_seed(seed)
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
    for _ in range(30):
        optimizer.zero_grad()
        (net(x).squeeze(1) - y).square().mean().backward()
        optimizer.step()
    return net


torch.manual_seed(33)
days = [torch.randn(30, 2) for _ in range(4)]
sold = [100 + d @ torch.tensor([8.0, k - 1.5]) for k, d in enumerate(days)]
nets = [fitted(d, s / 100, seed=k) for k, (d, s) in enumerate(zip(days, sold))]
own = [net.weight.tolist() for net in nets]
joint = federated_mean(nets)
print("joint weights", joint.weight.tolist())
moved = [(net.weight - joint.weight).abs().max().item() for net in nets]
print("distance of each bakery from the joint net", moved)

mean = [sum(w[0][c] for w in own) / 4 for c in range(2)]
far = [max(abs(w[0][c] - mean[c]) for c in range(2)) for w in own]
SILENTLY_WRONG = not torch.allclose(torch.tensor(moved), torch.tensor(far), atol=1e-5)
