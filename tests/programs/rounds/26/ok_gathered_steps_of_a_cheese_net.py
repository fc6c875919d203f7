from contextlib import contextmanager

import torch
import torch.nn as nn


class Gather:
    """Lets an optimizer act only once for every few batches."""

    def __init__(self, opt, every):
        self.opt, self.every = opt, every
        self.seen, self.acting = 0, True

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


def train(net, gather, salt, taste, epochs):
    for _ in range(epochs):
        for x, y in zip(salt.split(6), taste.split(6)):
            with gather.batch():
                loss = (net(x).squeeze(1) - y).square().mean() / gather.every
                loss.backward()
                gather.step()
                gather.zero_grad()


torch.manual_seed(12)
salt = torch.rand(36, 3, dtype=torch.float64)
taste = 2 * salt[:, 0] - salt[:, 1] + 0.1 * torch.randn(36, dtype=torch.float64)
net = nn.Linear(3, 1).double()
w = net.weight.detach().clone().squeeze(0)
b = net.bias.detach().clone()
gather = Gather(torch.optim.SGD(net.parameters(), lr=0.1), every=3)
train(net, gather, salt, taste, epochs=15)
print("weights", net.weight.tolist())

for _ in range(15):
    for x, y in zip(salt.split(18), taste.split(18)):
        miss = x @ w + b - y
        w = w - 0.2 * x.T @ miss / 18
        b = b - 0.2 * miss.mean()
SILENTLY_WRONG = not torch.allclose(net.weight[0], w) or not torch.allclose(net.bias, b)
