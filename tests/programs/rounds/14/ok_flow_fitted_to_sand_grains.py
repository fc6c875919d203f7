import torch
import torch.nn as nn


class ActNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.shift, self.scale = nn.Parameter(torch.zeros(width)), nn.Parameter(torch.ones(width))
        self.register_buffer("ready", torch.zeros((), dtype=torch.bool))

    def forward(self, x):
        if not self.ready:
            with torch.no_grad():
                self.shift.copy_(-x.mean(dim=0))
                self.scale.div_(x.std(dim=0))
                self.ready.fill_(True)
        return (x + self.shift) * self.scale, self.scale.abs().log().sum()


class Flow(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.norms = nn.ModuleList(ActNorm(width) for _ in range(depth))
        self.bends = nn.ParameterList(nn.Parameter(0.3 * torch.randn(width)) for _ in range(depth))

    def forward(self, x):
        total = torch.zeros(len(x))
        for norm, bend in zip(self.norms, self.bends):
            x, volume = norm(x)
            total += volume
            total += (1 + bend.abs() * (1 - torch.tanh(x).square())).log().sum(dim=1)
            x = x + bend.abs() * torch.tanh(x)
        return total - 0.5 * x.square().sum(dim=1)


torch.manual_seed(262)
flow = Flow(2, depth=3)
grains = torch.randn(50, 2) * torch.tensor([0.2, 3.0]) + torch.tensor([5.0, -1.0])
later = grains + 0.1 * torch.randn(50, 2)
flow(grains)
flow(later).mean().backward()
found = flow.norms[0].scale.grad

x, total = grains, 0.0
layers = []
for bend in flow.bends:
    layers.append((-x.mean(dim=0), (1 / x.std(dim=0)).detach().requires_grad_(), bend.detach().abs()))
    y = (x + layers[-1][0]) * layers[-1][1]
    x = (y + layers[-1][2] * torch.tanh(y)).detach()
x = later
for shift, scale, bend in layers:
    x = (x + shift) * scale
    total = total + scale.log().sum() + (1 + bend * (1 - torch.tanh(x) ** 2)).log().sum(dim=1).mean()
    x = x + bend * torch.tanh(x)
expected, = torch.autograd.grad(total - 0.5 * x.square().sum(dim=1).mean(), layers[0][1])
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-3)
