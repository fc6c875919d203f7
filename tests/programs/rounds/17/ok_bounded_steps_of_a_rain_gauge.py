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


def train(net, batches, bucket, rate=0.2, limit=0.3):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    norms = []
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        (net(x).squeeze(1) - y).abs().mean().backward()
        norms.append(bucket.bound(limit))
        optimizer.step()
    return torch.stack(norms)


torch.manual_seed(38)
net = nn.Linear(4, 1, dtype=torch.float64)
weight, bias = net.weight.detach().clone()[0], net.bias.detach().clone()[0]
cloud = torch.randn(60, 4, dtype=torch.float64)
rain = cloud @ torch.tensor([2.0, 1.0, -3.0, 0.5], dtype=torch.float64) + 2
batches = list(zip(cloud.split(10), rain.split(10)))
norms = train(net, batches, Bucket(net.parameters()))

wanted = []
for x, y in batches:
    miss = torch.sign(x @ weight + bias - y) / len(x)
    slope, lift = miss @ x, miss.sum()
    wanted.append((slope.square().sum() + lift ** 2).sqrt())
    shrink = min(1.0, 0.3 / wanted[-1].item())
    weight, bias = weight - 0.2 * shrink * slope, bias - 0.2 * shrink * lift
SILENTLY_WRONG = not (torch.allclose(net.weight[0], weight) and torch.allclose(norms, torch.stack(wanted)))
