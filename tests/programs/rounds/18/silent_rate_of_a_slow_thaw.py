import torch
import torch.nn as nn


class Thaw:
    """Warms the rate up over some steps and lets it fall off afterwards."""

    def __init__(self, optimizer, warm):
        self.groups, self.warm, self.count = optimizer.param_groups, warm, 0
        self.base = [group["lr"] for group in self.groups]
        self.step()

    def factor(self):
        if self.count <= self.warm:
            return self.count / self.warm
        return (self.warm / self.count) ** 0.5

    def step(self):
        self.count += 1
        for group, base in zip(self.groups, self.base):
            rate = base * self.factor()
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate


def fit(net, snow, melt, steps, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=torch.tensor(rate))
    thaw = Thaw(optimizer, warm=4)
    for _ in range(steps):
        optimizer.zero_grad()
        (net(snow).squeeze(1) - melt).square().mean().backward()
        optimizer.step()
        thaw.step()
    return net


torch.manual_seed(185)
net = nn.Linear(3, 1, bias=False)
weight = net.weight.detach().clone()[0]
snow = torch.randn(24, 3)
melt = snow @ torch.tensor([0.5, -1.0, 2.0]) + 0.1 * torch.randn(24)
fit(net, snow, melt, steps=15, rate=0.3)

for t in range(1, 16):
    rate = 0.3 * (t / 4 if t <= 4 else (4 / t) ** 0.5)
    weight = weight - rate * 2 * (snow @ weight - melt) @ snow / 24
SILENTLY_WRONG = not torch.allclose(net.weight[0], weight, atol=1e-4)
