from contextlib import contextmanager
import torch
import torch.nn as nn


class Average:
    """A slowly following average of the weights, put in place to evaluate."""

    def __init__(self, net, decay):
        self.net, self.decay = net, decay
        self.slow = {name: p.detach().clone() for name, p in net.named_parameters()}

    @torch.no_grad()
    def update(self):
        for name, p in self.net.named_parameters():
            self.slow[name].lerp_(p, 1 - self.decay)

    def exchange(self):
        for name, p in self.net.named_parameters():
            p.data, self.slow[name] = self.slow[name], p.data

    @contextmanager
    def in_place(self):
        self.exchange()
        try:
            yield self.net
        finally:
            self.exchange()


def train(net, skies, fog, epochs, steps, rate=0.1, decay=0.8):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    average = Average(net, decay)
    errors = []
    for _ in range(epochs):
        for _ in range(steps):
            optimizer.zero_grad()
            (net(skies).squeeze(1) - fog).square().mean().backward()
            optimizer.step()
            average.update()
        with average.in_place() as slow, torch.no_grad():
            errors.append((slow(skies).squeeze(1) - fog).square().mean())
    return torch.stack(errors)


torch.manual_seed(295)
net = nn.Linear(3, 1, bias=False)
live = net.weight.detach().clone()[0]
slow = live.clone()
skies = torch.randn(20, 3)
fog = skies @ torch.tensor([1.0, -2.0, 0.5]) + 0.1 * torch.randn(20)
errors = train(net, skies, fog, epochs=3, steps=4)

expected = []
for _ in range(3):
    for _ in range(4):
        live = live - 0.1 * 2 * (skies @ live - fog) @ skies / 20
        slow = 0.8 * slow + 0.2 * live
    expected.append((skies @ slow - fog).square().mean())
SILENTLY_WRONG = not torch.allclose(errors, torch.stack(expected), atol=1e-3)
