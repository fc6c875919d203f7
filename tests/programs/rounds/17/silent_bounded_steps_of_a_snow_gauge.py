import torch
import torch.nn as nn


class Bucket:
    """All gradients of a net in one flat tensor."""

    def __init__(self, params):
        self.params = list(params)
        size = sum(p.numel() for p in self.params)
        self.flat = torch.zeros(size, dtype=self.params[0].dtype)
        start = 0
        for p in self.params:
            p.grad = self.flat[start:start + p.numel()].view_as(p)
            start += p.numel()

    def bound(self, limit):
        norm = self.flat.norm()
        if norm > limit:
            self.flat.mul_(limit / norm)
        return norm


def train(net, batches, bucket, rate=0.1, limit=0.5):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for x, y in batches:
        optimizer.zero_grad()
        (net(x).squeeze(1) - y).square().mean().backward()
        bucket.bound(limit)
        optimizer.step()


torch.manual_seed(77)
net = nn.Linear(5, 1, dtype=torch.float64)
weight, bias = net.weight.detach().clone()[0], net.bias.detach().clone()[0]
depth = torch.randn(48, 5, dtype=torch.float64)
melt = depth @ torch.tensor([3.0, -4.0, 1.0, 0.5, 2.0], dtype=torch.float64) + 6
batches = list(zip(depth.split(8), melt.split(8)))
train(net, batches, Bucket(net.parameters()))

for x, y in batches:
    miss = 2 * (x @ weight + bias - y) / len(x)
    slope, lift = miss @ x, miss.sum()
    shrink = min(1.0, 0.5 / (slope.square().sum() + lift ** 2).sqrt().item())
    weight, bias = weight - 0.1 * shrink * slope, bias - 0.1 * shrink * lift
SILENTLY_WRONG = not (torch.allclose(net.weight[0], weight) and torch.allclose(net.bias[0], bias))
