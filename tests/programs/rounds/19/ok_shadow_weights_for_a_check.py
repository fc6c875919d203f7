import contextlib

import torch
import torch.nn as nn


class Shadow:
    def __init__(self, model, decay):
        self.decay = decay
        self.weights = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.weights[name].mul_(self.decay).add_(p, alpha=1 - self.decay)

    @contextlib.contextmanager
    def applied(self, model):
        kept = {}
        with torch.no_grad():
            for name, p in model.named_parameters():
                kept[name] = p.detach().clone()
                p.copy_(self.weights[name])
        try:
            yield model
        finally:
            with torch.no_grad():
                for name, p in model.named_parameters():
                    p.copy_(kept[name])


class Energy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return (x.square() * self.scale).sum(dim=1) + self.shift


def train(model, shadow, batches, check, rate):
    checks = []
    for step, (x, y) in enumerate(batches, 1):
        model.zero_grad()
        (model(x) - y).square().mean().backward()
        with torch.no_grad():
            for p in model.parameters():
                p.add_(p.grad, alpha=-rate)
        shadow.update(model)
        if step % 3 == 0:
            with shadow.applied(model), torch.no_grad():
                checks.append((model(check[0]) - check[1]).abs().mean())
    return torch.stack(checks)


torch.manual_seed(2912)
model = Energy(3).double()
batches = [(torch.randn(10, 3).double(), torch.rand(10).double()) for _ in range(9)]
check = torch.randn(6, 3).double(), torch.rand(6).double()
checks = train(model, Shadow(model, 0.8), batches, check, rate=0.02)

scale, shift = torch.ones(3).double(), torch.zeros(()).double()
slow_scale, slow_shift, expected = scale, shift, []
for step, (x, y) in enumerate(batches, 1):
    error = 2 * (x ** 2 @ scale + shift - y) / 10
    scale, shift = scale - 0.02 * error @ x ** 2, shift - 0.02 * error.sum()
    slow_scale, slow_shift = 0.8 * slow_scale + 0.2 * scale, 0.8 * slow_shift + 0.2 * shift
    if step % 3 == 0:
        expected.append((check[0] ** 2 @ slow_scale + slow_shift - check[1]).abs().mean())
SILENTLY_WRONG = not (torch.allclose(checks, torch.stack(expected)) and torch.allclose(model.scale, scale))
