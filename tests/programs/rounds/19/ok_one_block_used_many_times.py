import torch
import torch.nn as nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(width, width), nn.ReLU(inplace=True), nn.Linear(width, width))

    def forward(self, x):
        return x + self.inner(x)


class SharedStack(nn.Module):
    """The same block at each depth, on purpose, with its own gain per depth."""

    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList([Residual(width)] * depth)
        self.gains = nn.ParameterList(nn.Parameter(torch.ones(1)) for _ in range(depth))
        self.head = nn.Linear(width, width, bias=False)
        self.head.weight = self.blocks[0].inner[2].weight

    def forward(self, x):
        for block, gain in zip(self.blocks, self.gains):
            x = gain * block(x)
        return self.head(x)


def fit(net, x, y, steps, rate, momentum):
    velocity = {p: torch.zeros_like(p) for p in net.parameters()}
    for _ in range(steps):
        net.zero_grad()
        (net(x) - y).square().mean().backward()
        with torch.no_grad():
            for p, v in velocity.items():
                v.mul_(momentum).add_(p.grad)
                p.sub_(v, alpha=rate)
    return net


torch.manual_seed(2919)
net = SharedStack(4, depth=3).double()
names = ["w1", "b1", "w2", "b2"]
start = dict(zip(names, [p.detach().clone() for p in net.blocks[0].parameters()]))
start["gains"] = torch.ones(3).double()
x, y = torch.randn(15, 4).double(), torch.randn(15, 4).double()
fit(net, x, y, steps=10, rate=0.05, momentum=0.8)

values, speed = start, {name: 0.0 for name in start}
for _ in range(10):
    leaves = {name: v.clone().requires_grad_() for name, v in values.items()}
    h = x
    for i in range(3):
        inner = (h @ leaves["w1"].T + leaves["b1"]).clamp(min=0) @ leaves["w2"].T + leaves["b2"]
        h = leaves["gains"][i] * (h + inner)
    (h @ leaves["w2"].T - y).square().mean().backward()
    for name, leaf in leaves.items():
        speed[name] = 0.8 * speed[name] + leaf.grad
        values[name] = values[name] - 0.05 * speed[name]
found = dict(zip(names, net.blocks[2].parameters()))
found["gains"] = torch.cat(list(net.gains))
SILENTLY_WRONG = not all(torch.allclose(found[name], values[name]) for name in values)
