import contextlib

import torch
import torch.nn as nn


@contextlib.contextmanager
def statistics_kept(model):
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm1d)]
    momenta = [m.momentum for m in norms]
    for m in norms:
        m.momentum = 0.0
    yield
    for m, momentum in zip(norms, momenta):
        m.momentum = momentum


def adversarial_step(model, optimizer, x, y, radius=0.2):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    with statistics_kept(model):
        noise = torch.zeros_like(x, requires_grad=True)
        grad, = torch.autograd.grad(nn.functional.cross_entropy(model(x + noise), y), noise)
        with torch.no_grad():
            noise.add_(grad.sign(), alpha=radius)
        nn.functional.cross_entropy(model(x + noise.detach()), y).backward()
    optimizer.step()


torch.manual_seed(34)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
mean, var = torch.zeros(8), torch.ones(8)
for _ in range(10):
    x, y = torch.randn(16, 4) + 1.0, torch.randint(0, 3, (16,))
    with torch.no_grad():
        hidden = model[0](x)
        mean, var = 0.9 * mean + 0.1 * hidden.mean(dim=0), 0.9 * var + 0.1 * hidden.var(dim=0)
    adversarial_step(model, optimizer, x, y)
SILENTLY_WRONG = not (torch.allclose(model[1].running_mean, mean, atol=1e-5)
                      and torch.allclose(model[1].running_var, var, atol=1e-5))
