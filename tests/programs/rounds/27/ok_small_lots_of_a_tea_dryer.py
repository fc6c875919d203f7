import torch
from torch import nn


class GatheringOptimizer:
    """Clears and steps only when a group of small lots is complete."""

    def __init__(self, optimizer, group):
        self.optimizer = optimizer
        self.group = group
        self.count = 0

    def zero_grad(self):
        if self.count % self.group == 0:
            self.optimizer.zero_grad()
        self.count += 1

    def step(self):
        if self.count % self.group == 0:
            self.optimizer.step()


torch.manual_seed(39)
x = torch.randn(64, 3)
moist = 5 + x @ torch.tensor([0.6, -1.0, 0.1]) + 0.2 * torch.randn(64)
dryer = nn.Linear(3, 1)
w, b = dryer.weight.detach()[0].clone(), dryer.bias.detach().clone()
optimizer = GatheringOptimizer(torch.optim.SGD(dryer.parameters(), lr=0.1), group=4)
for epoch in range(6):
    for lot, target in zip(x.split(4), moist.split(4)):
        optimizer.zero_grad()
        loss = (dryer(lot).squeeze(1) - target).square().mean() / 4
        loss.backward()
        optimizer.step()
print("weights", dryer.weight.tolist(), "offset", dryer.bias.item())

for epoch in range(6):
    for group in torch.arange(64).split(16):
        off = x[group] @ w + b - moist[group]
        w, b = w - 0.2 * (off[:, None] * x[group]).mean(dim=0), b - 0.2 * off.mean()
SILENTLY_WRONG = not torch.allclose(dryer.weight[0], w, atol=1e-4)
