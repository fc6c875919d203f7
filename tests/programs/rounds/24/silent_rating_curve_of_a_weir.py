import torch
from torch import nn


class RatingCurve(nn.Module):
    """Flow over a weir from the water level."""

    def __init__(self, widths):
        super().__init__()
        self.layers = [nn.Linear(a, b) for a, b in zip(widths, widths[1:])]
        self.flow = nn.Linear(widths[-1], 1)

    def forward(self, level):
        for layer in self.layers:
            level = torch.tanh(layer(level))
        return self.flow(level)


def fit(curve, level, flow, steps, lr):
    optimizer = torch.optim.SGD(curve.parameters(), lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (curve(level) - flow).pow(2).mean()
        loss.backward()
        optimizer.step()
    return loss.item()


def gauge(count):
    level = torch.linspace(0.0, 2.0, count).unsqueeze(1)
    return level, 0.8 * level.clamp(min=0.3).sub(0.3).pow(1.5)


torch.manual_seed(9)
torch.set_default_dtype(torch.float64)
curve = RatingCurve([1, 12, 12])
start = [p.detach().clone() for layer in [*curve.layers, curve.flow] for p in layer.parameters()]
level, flow = gauge(40)
loss = fit(curve, level, flow, steps=120, lr=0.05)
print("mean square of what is left", loss)

params = [p.requires_grad_() for p in start]
for _ in range(120):
    a, b, c, d, e, f = params
    h = torch.tanh(torch.tanh(level @ a.T + b) @ c.T + d)
    last = (h @ e.T + f - flow).pow(2).mean()
    grads = torch.autograd.grad(last, params)
    params = [(p - 0.05 * g).detach().requires_grad_() for p, g in zip(params, grads)]
SILENTLY_WRONG = abs(loss - last.item()) > 1e-7
