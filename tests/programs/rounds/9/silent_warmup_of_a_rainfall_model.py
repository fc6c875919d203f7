import torch
import torch.nn as nn


class WarmupDecay:
    def __init__(self, optimizer, warmup, total):
        self.optimizer, self.warmup, self.total = optimizer, warmup, total
        self.base_rates = [group["lr"] for group in optimizer.param_groups]
        self.passed = 0
        self.apply()

    def factor(self):
        if self.passed < self.warmup:
            return (self.passed + 1) / (self.warmup + 1)
        return (self.total - self.passed) / (self.total - self.warmup)

    def apply(self):
        for group, rate in zip(self.optimizer.param_groups, self.base_rates):
            group["lr"].copy_(rate * self.factor())

    def step(self):
        self.passed += 1
        self.apply()


def fit(model, rain, runoff, steps):
    rate = torch.tensor(0.2)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    schedule = WarmupDecay(optimizer, warmup=4, total=steps)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(rain), runoff).backward()
        optimizer.step()
        schedule.step()
    return model


torch.manual_seed(913)
rain = torch.randn(60, 3)
runoff = rain @ torch.tensor([[0.7], [-0.2], [0.4]]) + 0.1
model = nn.Linear(3, 1)
weight = torch.cat([model.weight.detach(), model.bias.detach()[None]], dim=1).double()
fit(model, rain, runoff, steps=20)
design = torch.cat([rain, torch.ones(60, 1)], dim=1).double()
for step in range(20):
    factor = (step + 1) / 5 if step < 4 else (20 - step) / 16
    error = design @ weight.T - runoff.double()
    weight = weight - 0.2 * factor * 2 * error.T @ design / 60
found = torch.cat([model.weight, model.bias[None]], dim=1).detach().double()
SILENTLY_WRONG = not torch.allclose(found, weight, atol=1e-4)
