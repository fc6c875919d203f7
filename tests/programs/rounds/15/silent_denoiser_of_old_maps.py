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
            s.lerp_(p, 1 - self.decay)

    @torch.no_grad()
    def copy_to(self, net):
        for s, p in zip(self.shadow, net.parameters()):
            p.copy_(s)


class Trainer:
    def __init__(self, net, rate, every):
        self.net, self.every = net, every
        self.optimizer = torch.optim.SGD(net.parameters(), lr=rate)
        self.average, self.saved = Average(net, decay=0.8), []

    def save(self):
        self.average.copy_to(self.net)
        self.saved.append(copy.deepcopy(self.net.state_dict()))

    def fit(self, batches):
        for k, (clean, noise, level) in enumerate(batches, 1):
            noisy = (1 - level).sqrt() * clean + level.sqrt() * noise
            loss = (self.net(torch.cat([noisy, level], dim=1)) - noise).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.average.update(self.net)
            if k % self.every == 0:
                self.save()


torch.manual_seed(161)
net = nn.Linear(5, 4)
w, b = net.weight.detach().clone(), net.bias.detach().clone()
batches = [(torch.randn(8, 4), torch.randn(8, 4), torch.rand(8, 1)) for _ in range(15)]
trainer = Trainer(net, rate=0.5, every=4)
trainer.fit(batches)

expected, slow = [], w
for k, (clean, noise, level) in enumerate(batches, 1):
    x = torch.cat([(1 - level) ** 0.5 * clean + level ** 0.5 * noise, level], dim=1)
    slope = 2 * (x @ w.T + b - noise) / 32
    w, b = w - 0.5 * slope.T @ x, b - 0.5 * slope.sum(dim=0)
    slow = 0.8 * slow + 0.2 * w
    if k % 4 == 0:
        expected.append(slow)
SILENTLY_WRONG = not torch.allclose(trainer.saved[-1]["weight"], expected[-1], atol=1e-5)
