import numpy as np
import torch
import torch.nn as nn


class Panel:
    def __init__(self):
        self.rows = []

    def show(self, heights):
        table = heights.detach().numpy()
        np.multiply(table, 3.28084, out=table)
        np.round(table, 1, out=table)
        self.rows.append([f"{value:.1f} ft" for value in table.ravel()])


def step(net, x, y, panel, rate=0.05):
    heights = net(x)
    cost = (heights.squeeze(1) - y).square().mean()
    net.zero_grad()
    cost.backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= rate * p.grad
    panel.show(heights[:3])
    return cost.item()


torch.manual_seed(290)
net = nn.Linear(4, 1)
weight, bias = net.weight.detach().clone()[0], net.bias.detach().clone()
x, y = torch.randn(12, 4), torch.randn(12) * 3
panel = Panel()
costs = [step(net, x, y, panel) for _ in range(5)]

shown = []
for _ in range(5):
    heights = x @ weight + bias
    shown.append((heights[:3] * 3.28084).tolist())
    slope = 2 * (heights - y) / 12
    weight, bias = weight - 0.05 * slope @ x, bias - 0.05 * slope.sum()
near = all(abs(float(a[:-3]) - b) < 0.06 for row, own in zip(panel.rows, shown) for a, b in zip(row, own))
SILENTLY_WRONG = not (near and torch.allclose(net.weight[0], weight, atol=1e-5))
