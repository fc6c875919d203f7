import copy

import torch
from torch import nn


def build():
    torch.manual_seed(8)
    net = nn.Linear(3, 1)
    return net, torch.optim.Adam(net.parameters(), lr=0.05)


def train(net, optimizer, ships, wait, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        (net(ships).squeeze(1) - wait).square().mean().backward()
        optimizer.step()


def load(kept, net, optimizer):
    net.load_state_dict(kept["net"])
    template = optimizer.state_dict()
    template["state"].update(kept["optimizer"]["state"])
    optimizer.load_state_dict(template)


torch.manual_seed(53)
ships = torch.randn(30, 3)
wait = ships.abs().sum(dim=1)
net, optimizer = build()
train(net, optimizer, ships, wait, 10)
kept = copy.deepcopy({"net": net.state_dict(), "optimizer": optimizer.state_dict()})
net, optimizer = build()
load(kept, net, optimizer)
train(net, optimizer, ships, wait, 10)
print("weights", net.weight.tolist())

whole, steady = build()
train(whole, steady, ships, wait, 20)
SILENTLY_WRONG = not torch.allclose(net.weight, whole.weight, atol=1e-5)
