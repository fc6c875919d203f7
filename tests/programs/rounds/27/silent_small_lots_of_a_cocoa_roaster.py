from contextlib import contextmanager

import torch
from torch import nn


class Steps:
    """Counts small lots; only the last of each group leads to a step."""

    def __init__(self, group):
        self.group = group
        self.count = 0
        self.sync = False

    @contextmanager
    def accumulate(self):
        self.count += 1
        self.sync = self.count % self.group == 0
        yield


def roast(policy, lots, steps, lr):
    optimizer = torch.optim.SGD(policy.parameters(), lr=lr)
    for beans, browning in lots:
        with steps.accumulate():
            policy.zero_grad()
            loss = (policy(beans).squeeze(1) - browning).square().mean() / steps.group
            loss.backward()
            if steps.sync:
                optimizer.step()
    return policy


torch.manual_seed(18)
weight = torch.tensor([0.8, -0.3, 0.5])
lots = []
for k in range(32):
    beans = torch.randn(6, 3) + torch.tensor([0.5, 0.0, 0.0]) * (k % 4)
    lots.append((beans, beans @ weight + 0.5 * torch.randn(6)))
policy = nn.Linear(3, 1)
start = policy.weight.detach().squeeze(0).clone(), policy.bias.item()
roast(policy, lots, Steps(group=4), lr=0.05)
print("weights", policy.weight.tolist(), "bias", policy.bias.item())

w, b = start
for k in range(0, 32, 4):
    beans = torch.cat([x for x, _ in lots[k:k + 4]])
    off = beans @ w + b - torch.cat([y for _, y in lots[k:k + 4]])
    w, b = w - 0.1 * (off[:, None] * beans).mean(dim=0), b - 0.1 * float(off.mean())
SILENTLY_WRONG = not torch.allclose(policy.weight.squeeze(0), w, atol=1e-4)
