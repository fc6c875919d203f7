import numpy as np
import torch
import torch.nn as nn


class Panel:
    def __init__(self):
        self.rows = []

    def show(self, chances):
        table = chances.detach().numpy()
        np.multiply(table, 100, out=table)
        np.round(table, 1, out=table)
        self.rows.append([f"{value:.1f} %" for value in table.ravel()])


def step(net, x, y, panel, rate=0.5):
    chances = torch.sigmoid(net(x))
    cost = (chances.squeeze(1) - y).square().mean()
    panel.show(chances[:3])
    net.zero_grad()
    cost.backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= rate * p.grad
    return cost.item()


torch.manual_seed(29)
net = nn.Linear(4, 1)
weight, bias = net.weight.detach().clone()[0], net.bias.detach().clone()
x = torch.randn(10, 4)
y = (x[:, 0] > 0).float()
panel = Panel()
costs = [step(net, x, y, panel) for _ in range(5)]

for _ in range(5):
    p = 1 / (1 + torch.exp(-(x @ weight + bias)))
    slope = 2 * (p - y) * p * (1 - p) / 10
    weight, bias = weight - 0.5 * slope @ x, bias - 0.5 * slope.sum()
SILENTLY_WRONG = not torch.allclose(net.weight[0], weight, atol=1e-5)
