from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Plan:
    batch: int = 16
    micro: int = 4
    rate: float = 0.1
    epochs: int = 8


def fit_fineness(net, scans, microns, plan):
    opt = torch.optim.SGD(net.parameters(), lr=plan.rate)
    for _ in range(plan.epochs):
        for first in range(0, len(scans), plan.batch):
            x = scans[first : first + plan.batch]
            y = microns[first : first + plan.batch]
            opt.zero_grad(set_to_none=True)
            for part, truth in zip(x.split(plan.micro), y.split(plan.micro)):
                loss = (net(part).squeeze(1) - truth).square().sum() / len(x)
                loss.backward()
            opt.step()
    return loss.item()


torch.manual_seed(23)
scans = torch.randn(44, 3, dtype=torch.float64)
microns = 18 + scans @ torch.tensor([1.5, -0.7, 0.2], dtype=torch.float64)
net = nn.Linear(3, 1).double()
w, b = net.weight.detach()[0].clone(), net.bias.detach().clone()
fit_fineness(net, scans, microns, Plan())
print("weights", net.weight.tolist(), net.bias.item())

for _ in range(8):
    for x, y in zip(scans.split(16), microns.split(16)):
        miss = x @ w + b - y
        w, b = w - 0.2 * x.T @ miss / len(x), b - 0.2 * miss.mean()
SILENTLY_WRONG = not torch.allclose(net.weight[0], w) or not torch.allclose(net.bias, b)
