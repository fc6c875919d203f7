import torch
import torch.nn as nn


class Average:
    """A slowly following average of the weights, put in place to evaluate."""

    def __init__(self, net, decay):
        self.net, self.decay = net, decay
        self.slow = {name: p.detach().clone() for name, p in net.named_parameters()}
        self.kept = {}

    @torch.no_grad()
    def update(self):
        for name, p in self.net.named_parameters():
            self.slow[name].lerp_(p, 1 - self.decay)

    def apply(self):
        for name, p in self.net.named_parameters():
            self.kept[name] = p.data.clone()
            p.data = self.slow[name]

    def restore(self):
        for name, p in self.net.named_parameters():
            p.data.copy_(self.kept.pop(name))


def train(net, skies, cover, epochs, steps, rate=0.1, decay=0.9):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    average = Average(net, decay)
    errors = []
    for _ in range(epochs):
        for _ in range(steps):
            optimizer.zero_grad()
            (net(skies).squeeze(1) - cover).square().mean().backward()
            optimizer.step()
            average.update()
        average.apply()
        with torch.no_grad():
            errors.append((net(skies).squeeze(1) - cover).square().mean())
        average.restore()
    return torch.stack(errors)


torch.manual_seed(195)
net = nn.Linear(4, 1, bias=False)
live = net.weight.detach().clone()[0]
slow = live.clone()
skies = torch.randn(25, 4)
cover = skies @ torch.tensor([2.0, -1.0, 0.5, 3.0]) + 0.2 * torch.randn(25)
errors = train(net, skies, cover, epochs=4, steps=5)

expected = []
for _ in range(4):
    for _ in range(5):
        live = live - 0.1 * 2 * (skies @ live - cover) @ skies / 25
        slow = 0.9 * slow + 0.1 * live
    expected.append((skies @ slow - cover).square().mean())
SILENTLY_WRONG = not torch.allclose(errors, torch.stack(expected), atol=1e-3)
