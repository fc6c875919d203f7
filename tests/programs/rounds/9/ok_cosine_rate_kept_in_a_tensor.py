import math

import torch


class CosineRate:
    def __init__(self, optimizer, total, floor=0.1):
        self.groups, self.total, self.floor = optimizer.param_groups, total, floor
        self.base = [group["lr"].clone() for group in self.groups]
        self.passed = 0

    def step(self):
        self.passed += 1
        wave = 0.5 + 0.5 * math.cos(math.pi * self.passed / self.total)
        for group, base in zip(self.groups, self.base):
            group["lr"].copy_(base).mul_(self.floor + (1 - self.floor) * wave)


def fit_decay(time, counts, total):
    log_start = torch.tensor(1.0, requires_grad=True)
    rate = torch.tensor(0.3, requires_grad=True)
    optimizer = torch.optim.SGD([
        {"params": [log_start], "lr": torch.tensor(0.2)},
        {"params": [rate], "lr": torch.tensor(0.05)},
    ])
    schedule = CosineRate(optimizer, total)
    for _ in range(total):
        optimizer.zero_grad()
        (log_start - rate * time - counts.log()).square().mean().backward()
        optimizer.step()
        schedule.step()
    return log_start.item(), rate.item()


torch.manual_seed(953)
time = torch.linspace(0, 3, 30)
counts = 80 * torch.exp(-0.8 * time) * (1 + 0.05 * torch.rand(30))
found = fit_decay(time, counts, total=25)

t, logs = time.tolist(), [math.log(count) for count in counts.tolist()]
a, b = 1.0, 0.3
for step in range(25):
    factor = 0.1 + 0.9 * (0.5 + 0.5 * math.cos(math.pi * step / 25))
    errors = [a - b * x - y for x, y in zip(t, logs)]
    slope_a = 2 * sum(errors) / 30
    slope_b = -2 * sum(e * x for e, x in zip(errors, t)) / 30
    a, b = a - 0.2 * factor * slope_a, b - 0.05 * factor * slope_b
SILENTLY_WRONG = abs(found[0] - a) + abs(found[1] - b) > 1e-3
