import copy
import math

import torch
import torch.nn as nn


def cyclic_training(net, x, y, cycles, length, top):
    optimizer = torch.optim.SGD(net.parameters(), lr=top)
    snapshots = []
    for cycle in range(cycles):
        for i in range(length):
            for group in optimizer.param_groups:
                group["lr"] = top / 2 * (1 + math.cos(math.pi * i / length))
            optimizer.zero_grad()
            nn.functional.mse_loss(net(x)[:, 0], y).backward()
            optimizer.step()
        snapshots.append(copy.deepcopy(net.state_dict()))
    return snapshots


@torch.no_grad()
def ensemble(net, snapshots, x):
    total = torch.zeros(len(x))
    for state in snapshots:
        net.load_state_dict(state)
        total += net(x)[:, 0]
    return total.div_(len(snapshots))


torch.manual_seed(110)
net = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 1))
start = [p.detach().clone() for p in net.parameters()]
x = torch.randn(40, 3)
y = torch.sin(x[:, 0]) * x[:, 1]
snapshots = cyclic_training(net, x, y, cycles=3, length=8, top=0.4)
prediction = ensemble(net, snapshots, x)

values, collected = start, []
for step in range(24):
    rate = 0.2 * (1 + math.cos(math.pi * (step % 8) / 8))
    values = [v.detach().requires_grad_() for v in values]
    out = (torch.tanh(x @ values[0].T + values[1]) @ values[2].T + values[3])[:, 0]
    grads = torch.autograd.grad((out - y).pow(2).mean(), values)
    values = [v - rate * g for v, g in zip(values, grads)]
    if step % 8 == 7:
        collected.append((torch.tanh(x @ values[0].T + values[1]) @ values[2].T + values[3])[:, 0])
SILENTLY_WRONG = not torch.allclose(prediction, torch.stack(collected).mean(dim=0), atol=1e-5)
