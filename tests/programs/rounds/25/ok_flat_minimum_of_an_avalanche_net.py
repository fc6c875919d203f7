from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def statistics_resting(net):
    norms = [m for m in net.modules() if isinstance(m, nn.BatchNorm1d)]
    kept = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum in zip(norms, kept):
            norm.momentum = momentum


def flat_step(net, optimizer, x, y, radius=0.05):
    weights = list(net.parameters())
    nn.functional.mse_loss(net(x), y).backward()
    norm = torch.stack([w.grad.norm() for w in weights]).norm()
    moves = [w.grad * (radius / norm) for w in weights]
    with torch.no_grad():
        torch._foreach_add_(weights, moves)
    optimizer.zero_grad()
    with statistics_resting(net):
        loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    with torch.no_grad():
        torch._foreach_sub_(weights, moves)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


torch.manual_seed(29)
net = nn.Sequential(nn.Linear(4, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
mean, spread = torch.zeros(12), torch.ones(12)
for day in range(25):
    snow = 1.0 + torch.randn(40, 4)
    load = snow[:, :1] * snow[:, 1:2].clamp(min=0)
    with torch.no_grad():
        h = snow @ net[0].weight.T + net[0].bias
        mean = 0.9 * mean + 0.1 * h.mean(dim=0)
        spread = 0.9 * spread + 0.1 * h.var(dim=0)
    loss = flat_step(net, optimizer, snow, load)
print("loss", round(loss, 4))
SILENTLY_WRONG = not (
    torch.allclose(net[1].running_mean, mean, atol=1e-4) and torch.allclose(net[1].running_var, spread, atol=1e-4)
)
