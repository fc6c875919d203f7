import contextlib
import copy

import torch
import torch.nn as nn


class Average:
    def __init__(self, net, decay):
        self.decay = decay
        self.shadow = [p.detach().clone() for p in net.parameters()]

    @torch.no_grad()
    def update(self, net):
        for s, p in zip(self.shadow, net.parameters()):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)

    @contextlib.contextmanager
    def inside(self, net):
        kept = [p.detach().clone() for p in net.parameters()]
        with torch.no_grad():
            for p, s in zip(net.parameters(), self.shadow):
                p.copy_(s)
            yield net
            for p, k in zip(net.parameters(), kept):
                p.copy_(k)


def fit(net, batches, rate, every):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    average, saved = Average(net, decay=0.7), []
    for k, (clean, noise, level) in enumerate(batches, 1):
        noisy = (1 - level).sqrt() * clean + level.sqrt() * noise
        loss = (net(torch.cat([noisy, level], dim=1)) - noise).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(net)
        if k % every == 0:
            with average.inside(net) as slow:
                saved.append(copy.deepcopy(slow.state_dict()))
    return saved


torch.manual_seed(162)
net = nn.Linear(4, 3)
w, b = net.weight.detach().clone(), net.bias.detach().clone()
batches = [(torch.randn(6, 3), torch.randn(6, 3), torch.rand(6, 1)) for _ in range(14)]
saved = fit(net, batches, rate=0.4, every=3)

expected, slow = [], w
for k, (clean, noise, level) in enumerate(batches, 1):
    x = torch.cat([(1 - level) ** 0.5 * clean + level ** 0.5 * noise, level], dim=1)
    slope = 2 * (x @ w.T + b - noise) / 18
    w, b = w - 0.4 * slope.T @ x, b - 0.4 * slope.sum(dim=0)
    slow = 0.7 * slow + 0.3 * w
    if k % 3 == 0:
        expected.append(slow)
right = all(torch.allclose(s["weight"], e, atol=1e-5) for s, e in zip(saved, expected))
SILENTLY_WRONG = not (right and torch.allclose(net.weight, w, atol=1e-5))
