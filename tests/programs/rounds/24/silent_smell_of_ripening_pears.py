import torch
from torch import nn


class RipenessNet(nn.Module):
    """Days until ripe from gas sensors and firmness."""

    def __init__(self):
        super().__init__()
        self.gas = nn.BatchNorm1d(5)
        self.firm = nn.BatchNorm1d(2)
        self.days = nn.Linear(7, 1)

    def forward(self, gas, firm):
        return self.days(torch.cat([self.gas(gas), self.firm(firm)], dim=1)).squeeze(1)


def train(model, loader, valid, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    best = float("inf")
    for _ in range(epochs):
        model.train()
        for gas, firm, days in loader:
            optimizer.zero_grad()
            (model(gas, firm) - days).pow(2).mean().backward()
            optimizer.step()
        best = min(best, validate(model, valid))
    return best


def validate(model, valid):
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for gas, firm, days in valid:
            model.train()
            total += (model(gas, firm) - days).pow(2).sum().item()
            count += len(days)
    return total / count


def pears(count, warmth, size):
    gas = torch.randn(count, 5) + warmth
    firm = torch.randn(count, 2) - 0.5 * warmth
    days = 4 - gas[:, 0] + firm[:, 1]
    return list(zip(gas.split(size), firm.split(size), days.split(size)))


torch.manual_seed(13)
model = RipenessNet()
loader = pears(120, warmth=0.0, size=20)
valid = pears(60, warmth=1.5, size=20)
best = train(model, loader, valid, epochs=5, lr=0.05)
print("best", best, "gas", model.gas.running_mean.tolist())

mean = torch.zeros(5)
for _ in range(5):
    for gas, _, _ in loader:
        mean = 0.9 * mean + 0.1 * gas.mean(dim=0)
SILENTLY_WRONG = not torch.allclose(model.gas.running_mean, mean, atol=1e-4)
