import copy

import torch
from torch import nn


class Squeezer(nn.Module):
    """Squeezes a day of tide readings and opens it again, the layers in mirrored order."""

    def __init__(self, width, depth):
        super().__init__()
        encoder = [nn.Linear(width, width) for _ in range(depth)]
        decoder = encoder
        decoder = [layer for layer in reversed(decoder)]
        self.encoder = nn.ModuleList(encoder)
        self.decoder = nn.ModuleList(decoder)
        self.gate = nn.Linear(width, width, bias=False)

    def forward(self, x):
        for layer in self.encoder:
            x = torch.tanh(layer(x))
        x = self.gate(x)
        for layer in self.decoder:
            x = torch.tanh(layer(x))
        return x


def train(net, x, steps=60):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(steps):
        loss = (net(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return net(x)


torch.manual_seed(6)
hour = torch.arange(12) / 12.4 * 2 * torch.pi
x = 0.7 * torch.sin(hour + 6.3 * torch.rand(40, 1)) + 0.05 * torch.randn(40, 12)
net = Squeezer(12, 2)
first = [copy.deepcopy(layer) for layer in (*net.encoder, net.gate, *net.decoder)]
opened = train(net, x)
print("error", float((opened - x).square().mean()))

weights = [p.detach().clone().requires_grad_() for layer in first for p in layer.parameters()]
for _ in range(61):
    w1, b1, w2, b2, g, w3, b3, w4, b4 = weights
    h = torch.tanh(torch.tanh(x @ w1.T + b1) @ w2.T + b2) @ g.T
    out = torch.tanh(torch.tanh(h @ w3.T + b3) @ w4.T + b4)
    slopes = torch.autograd.grad((out - x).square().mean(), weights)
    weights = [(w - 0.1 * s).detach().requires_grad_() for w, s in zip(weights, slopes)]
SILENTLY_WRONG = not torch.allclose(opened, out, atol=1e-3)
