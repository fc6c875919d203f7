import torch
import torch.nn as nn


class GaitNet(nn.Module):
    def __init__(self, joints, width):
        super().__init__()
        self.inner = nn.Linear(joints, width)
        self.outer = nn.Linear(width, 1)

    def forward(self, angles):
        return self.outer(self.inner(angles).tanh_()).squeeze(1)


class GradLog:
    def __init__(self):
        self.norms = []

    def clip(self, net, limit):
        self.norms.append(nn.utils.clip_grad_norm_(net.parameters(), limit))


def train(net, batches, rate, limit, log):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for angles, pace in batches:
        optimizer.zero_grad()
        (net(angles) - pace).square().mean().backward()
        log.clip(net, limit)
        optimizer.step()


torch.manual_seed(184)
net = GaitNet(joints=3, width=4)
parts = [p.detach().clone() for p in net.parameters()]
batches = [(torch.randn(8, 3), 2 + torch.randn(8)) for _ in range(7)]
log = GradLog()
train(net, batches, rate=0.1, limit=1.5, log=log)

expected = []
for angles, pace in batches:
    w, b, v, c = parts
    hidden = torch.tanh(angles @ w.T + b)
    error = 2 * (hidden @ v[0] + c - pace) / 8
    back = error[:, None] * v * (1 - hidden ** 2)
    slopes = [back.T @ angles, back.sum(dim=0), (error @ hidden)[None], error.sum()[None]]
    size = torch.cat([s.flatten() for s in slopes]).norm()
    expected.append(size)
    parts = [p - 0.1 * min(1.5 / size.item(), 1.0) * s for p, s in zip(parts, slopes)]
right = torch.allclose(torch.stack(log.norms), torch.stack(expected), atol=1e-4)
SILENTLY_WRONG = not (right and torch.allclose(net.inner.weight, parts[0], atol=1e-4))
