import torch
from torch import nn


class MooringLoss(nn.Module):
    """Strain, drift and wear of mooring lines, with weights that can be switched."""

    def __init__(self, weights):
        super().__init__()
        self.weights = weights

    def forward(self, output, target):
        parts = {
            "strain": (output[:, 0] - target[:, 0]).square().mean(),
            "drift": (output[:, 1] - target[:, 1]).abs().mean(),
            "wear": torch.relu(output[:, 2] - target[:, 2]).mean(),
        }
        total = output.new_zeros(())
        for name, value in parts.items():
            total += self.weights[name] * value
        return total, parts


class Meter:
    def __init__(self):
        self.sums = None
        self.count = 0

    def update(self, total, parts):
        values = torch.stack([total, *parts.values()]).detach()
        if self.sums is None:
            self.sums = torch.zeros_like(values)
        self.sums += values
        self.count += 1

    def mean(self):
        return self.sums / self.count


torch.manual_seed(64)
net = nn.Linear(6, 3)
criterion = MooringLoss({"strain": 1.0, "drift": 0.5, "wear": 2.0})
optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
meter = Meter()
data = [(torch.randn(8, 6), torch.randn(8, 3)) for _ in range(5)]
for x, y in data:
    total, parts = criterion(net(x), y)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    meter.update(total, parts)
print("total, strain, drift, wear", meter.mean().tolist())

with torch.no_grad():
    gaps = [net(x) - y for x, y in data]
strain = sum((g[:, 0] ** 2).mean() for g in gaps) / 5
drift = sum(g[:, 1].abs().mean() for g in gaps) / 5
wear = sum(g[:, 2].clamp(min=0).mean() for g in gaps) / 5
expected = torch.stack([strain + 0.5 * drift + 2 * wear, strain, drift, wear])
SILENTLY_WRONG = not torch.allclose(meter.mean(), expected, atol=1e-5)
