import copy

import torch
from torch import nn


class GlacierNet(nn.Module):
    """Speed of the ice from slope, depth and temperature."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(3, 8)
        self.middle = nn.Linear(8, 8)
        self.leave = nn.Linear(8, 1)
        self.order = [self.enter, self.middle, self.middle]

    def forward(self, x):
        for layer in self.order:
            x = torch.tanh(layer(x))
        return self.leave(x)


def train(net, x, speed, steps, lr):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (net(x) - speed).pow(2).mean()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(37)
torch.set_default_dtype(torch.float64)
x = torch.rand(50, 3)
speed = (x[:, :1] * x[:, 1:2]).sqrt() + 0.2 * x[:, 2:]
net = GlacierNet()
params = [p.detach().clone() for p in (net.enter.weight, net.enter.bias, net.middle.weight, net.middle.bias, net.leave.weight, net.leave.bias)]
loss = train(net, x, speed, steps=60, lr=0.1)
print("loss", loss)

for _ in range(60):
    a, b, c, d, e, f = params = [p.requires_grad_() for p in params]
    h = torch.tanh(x @ a.T + b)
    for _ in range(2):
        h = torch.tanh(h @ c.T + d)
    last = (h @ e.T + f - speed).pow(2).mean()
    params = [(p - 0.1 * g).detach() for p, g in zip(params, torch.autograd.grad(last, params))]
SILENTLY_WRONG = abs(loss - last.item()) > 1e-8
