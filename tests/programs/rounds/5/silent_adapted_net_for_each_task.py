import copy
import math

import torch
from torch import nn
from torch.nn.functional import mse_loss


def make_task(amplitude, phase, points=20):
    x = torch.rand(points, 1) * 10 - 5
    y = amplitude * torch.sin(x + phase)
    return x[:10], y[:10], x[10:], y[10:]


def adapt(net, x, y, steps=5, lr=0.02):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    for _ in range(steps):
        loss = mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(7)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
tasks = [make_task(1 + k, k * math.pi / 5) for k in range(5)]
twin = copy.deepcopy(net)

meta_weights = net.state_dict()
query_losses = []
for support_x, support_y, query_x, query_y in tasks:
    adapt(net, support_x, support_y)
    with torch.no_grad():
        query_losses.append(mse_loss(net(query_x), query_y))
    net.load_state_dict(meta_weights)

expected = []
for support_x, support_y, query_x, query_y in tasks:
    learner = copy.deepcopy(twin)
    adapt(learner, support_x, support_y)
    expected.append(mse_loss(learner(query_x), query_y).detach())
SILENTLY_WRONG = not torch.allclose(torch.stack(query_losses), torch.stack(expected), atol=1e-5)
