from contextlib import contextmanager

import torch
import torch.nn as nn


class Gather:
    """Lets an optimizer act only once for every few batches."""

    def __init__(self, opt, every):
        self.opt, self.every, self.seen, self.acting = opt, every, 0, True

    @contextmanager
    def batch(self):
        self.seen += 1
        self.acting = self.seen % self.every == 0
        yield

    def step(self):
        if self.acting:
            self.opt.step()

    def zero_grad(self):
        if self.acting:
            self.opt.zero_grad()


def train(net, gather, sugar, foam, epochs):
    for _ in range(epochs):
        for x, y in zip(sugar.split(8), foam.split(8)):
            with gather.batch():
                gather.zero_grad()
                loss = (net(x).squeeze(1) - y).square().mean() / gather.every
                loss.backward()
                gather.step()


torch.manual_seed(11)
sugar = torch.rand(64, 4, dtype=torch.float64)
foam = torch.sin(3 * sugar[:, 0]) + sugar[:, 1] * sugar[:, 2]
net = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 1)).double()
start = [p.detach().clone() for p in net.parameters()]
gather = Gather(torch.optim.SGD(net.parameters(), lr=0.2), every=4)
train(net, gather, sugar, foam, epochs=20)
final = (net(sugar).squeeze(1) - foam).square().mean().item()
print("mean squared error", final)
w1, b1, w2, b2 = (p.requires_grad_() for p in start)


def error(x, y):
    return ((torch.tanh(x @ w1.T + b1) @ w2.T + b2).squeeze(1) - y).square().mean()


for _ in range(20):
    for x, y in zip(sugar.split(32), foam.split(32)):
        slopes = torch.autograd.grad(error(x, y), [w1, b1, w2, b2])
        with torch.no_grad():
            for p, s in zip([w1, b1, w2, b2], slopes):
                p.sub_(0.2 * s)
SILENTLY_WRONG = abs(final - error(sugar, foam).item()) > 1e-6
