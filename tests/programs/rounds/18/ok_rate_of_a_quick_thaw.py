import torch
import torch.nn as nn


class Thaw:
    """Warms the rate up over some steps and lets it fall off afterwards."""

    def __init__(self, optimizer, warm):
        self.groups, self.warm, self.count = optimizer.param_groups, warm, 0
        self.base = [group["lr"].clone() for group in self.groups]
        self.rates = []
        self.step()

    def factor(self):
        if self.count <= self.warm:
            return self.count / self.warm
        return self.warm / self.count

    def step(self):
        self.count += 1
        for group, base in zip(self.groups, self.base):
            group["lr"].fill_(base * self.factor())
        self.rates.append([group["lr"].item() for group in self.groups])


def fit(net, frost, melt, steps, rates):
    groups = [{"params": [p], "lr": torch.tensor(rate)} for p, rate in zip(net.parameters(), rates)]
    optimizer = torch.optim.SGD(groups)
    thaw = Thaw(optimizer, warm=3)
    for _ in range(steps):
        optimizer.zero_grad()
        (net(frost).squeeze(1) - melt).square().mean().backward()
        optimizer.step()
        thaw.step()
    return thaw.rates


torch.manual_seed(285)
net = nn.Linear(2, 1)
weight, bias = net.weight.detach().clone()[0], net.bias.detach().clone()
frost = torch.randn(18, 2)
melt = frost @ torch.tensor([1.0, -2.0]) + 0.5
rates = fit(net, frost, melt, steps=10, rates=[0.2, 0.05])

expected = []
for t in range(1, 11):
    factor = t / 3 if t <= 3 else 3 / t
    expected.append([0.2 * factor, 0.05 * factor])
    error = 2 * (frost @ weight + bias - melt) / 18
    weight, bias = weight - 0.2 * factor * error @ frost, bias - 0.05 * factor * error.sum()
same = torch.allclose(net.weight[0], weight, atol=1e-4) and torch.allclose(net.bias, bias, atol=1e-4)
SILENTLY_WRONG = not (same and torch.allclose(torch.tensor(rates[:-1]), torch.tensor(expected), atol=1e-5))
