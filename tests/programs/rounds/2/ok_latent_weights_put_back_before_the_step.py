import torch
from torch import nn
from contextlib import contextmanager


def quantise_(w, bits=4):
    scale = w.abs().max() / (2 ** (bits - 1) - 1)
    return w.div_(scale).round_().mul_(scale)


@contextmanager
def quantised(model):
    backup = [p.detach().clone() for p in model.parameters()]
    with torch.no_grad():
        for p in model.parameters():
            quantise_(p)
    try:
        yield model
    finally:
        with torch.no_grad():
            for p, latent in zip(model.parameters(), backup):
                p.copy_(latent)


torch.manual_seed(0)
model = nn.Linear(5, 1)
w, b = model.weight.detach().clone(), model.bias.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(20, 5), torch.randn(20, 1)
for _ in range(12):
    optimizer.zero_grad()
    with quantised(model):
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
    optimizer.step()

for _ in range(12):
    qw, qb = ((t / (t.abs().max() / 7)).round() * (t.abs().max() / 7) for t in (w, b))
    error = x @ qw.t() + qb - y
    w = w - 0.01 * 2 / 20 * error.t() @ x
    b = b - 0.01 * 2 * error.mean(0)
expected = torch.cat([w.flatten(), b])
SILENTLY_WRONG = not torch.allclose(torch.cat([model.weight.flatten(), model.bias]), expected, atol=1e-4)
