import torch
from torch import nn


def federated_mean(nets):
    """One net whose weights are the mean of those of all dairies."""
    nets = list(nets.values())
    joint = nets[0]
    with torch.no_grad():
        for other in nets[1:]:
            for mine, theirs in zip(joint.parameters(), other.parameters()):
                mine.add_(theirs)
        for p in joint.parameters():
            p.div_(len(nets))
    return joint


def train(net, x, y):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x).squeeze(1), y).backward()
        optimizer.step()


def error(net, x, y):
    with torch.no_grad():
        return float((net(x).squeeze(1) - y).square().mean())


torch.manual_seed(30)
herds = {}
for place, fat in {"hill": 0.9, "plain": 0.4, "coast": -0.3}.items():
    x = torch.randn(40, 3)
    herds[place] = (x, 4 + x @ torch.tensor([fat, 0.5, -0.2]) + 0.05 * torch.randn(40))
nets = {place: nn.Linear(3, 1) for place in herds}
for place, (x, y) in herds.items():
    train(nets[place], x, y)
before = {place: error(nets[place], *herds[place]) for place in herds}
joint = federated_mean(nets)
gain = {place: error(joint, *herds[place]) - error(nets[place], *herds[place]) for place in herds}
print("what the joint net costs each dairy", gain)

SILENTLY_WRONG = any(abs(gain[p] - (error(joint, *herds[p]) - before[p])) > 1e-4 for p in herds)
