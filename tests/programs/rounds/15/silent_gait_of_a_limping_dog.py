import torch
import torch.nn as nn


class GaitNet(nn.Module):
    def __init__(self, joints, width):
        super().__init__()
        self.inner = nn.Linear(joints, width)
        self.outer = nn.Linear(width, 1)

    def forward(self, angles):
        return self.outer(torch.tanh(self.inner(angles))).squeeze(1)


class GradLog:
    def __init__(self):
        self.rows = []

    def record(self, net):
        norms = {}
        for name, module in net.named_children():
            norms[name] = nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        self.rows.append(norms)


def train(net, batches, rate, log):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for angles, pace in batches:
        optimizer.zero_grad()
        (net(angles) - pace).square().mean().backward()
        log.record(net)
        optimizer.step()


torch.manual_seed(183)
net = GaitNet(joints=4, width=5)
w, b, v, c = [p.detach().clone() for p in net.parameters()]
batches = [(torch.randn(9, 4), 3 + torch.randn(9)) for _ in range(7)]
log = GradLog()
train(net, batches, rate=0.05, log=log)

expected = []
for angles, pace in batches:
    hidden = torch.tanh(angles @ w.T + b)
    error = 2 * (hidden @ v[0] + c - pace) / 9
    back = error[:, None] * v * (1 - hidden ** 2)
    expected.append((error @ hidden).square().sum() + error.sum() ** 2)
    w, b = w - 0.05 * back.T @ angles, b - 0.05 * back.sum(dim=0)
    v, c = v - 0.05 * (error @ hidden)[None], c - 0.05 * error.sum()
norms = torch.stack([row["outer"] for row in log.rows])
SILENTLY_WRONG = not torch.allclose(norms, torch.stack(expected).sqrt(), atol=1e-4)
