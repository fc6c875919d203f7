from collections import defaultdict

import torch
import torch.nn as nn


class Log:
    def __init__(self):
        self.values = defaultdict(list)

    def put(self, name, value):
        self.values[name].append(value.detach().clone())

    def mean(self, name):
        return torch.stack(self.values[name]).mean()

    def best(self, name):
        return torch.stack(self.values[name]).min(dim=0)


class Yield(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.line = nn.Linear(inputs, 1, dtype=torch.float64)
        self.register_buffer("error", torch.zeros((), dtype=torch.float64))

    @torch.no_grad()
    def validation_step(self, batch, log):
        x, y = batch
        torch.mean((self.line(x).squeeze(1) - y).abs(), dim=0, out=self.error)
        log.put("error", self.error)
        self.error.mul_(100).div_(y.abs().mean())
        log.put("percent", self.error)

    def training_step(self, batch):
        x, y = batch
        return (self.line(x).squeeze(1) - y).square().mean()


def fit(model, train, validation, epochs, rate=0.1):
    optimizer, logs = torch.optim.SGD(model.parameters(), lr=rate), []
    for _ in range(epochs):
        for batch in train:
            optimizer.zero_grad()
            model.training_step(batch).backward()
            optimizer.step()
        logs.append(Log())
        for batch in validation:
            model.validation_step(batch, logs[-1])
    return logs


torch.manual_seed(52)
x = torch.randn(48, 3, dtype=torch.float64)
y = x.sum(1) + 0.3 * torch.randn(48, dtype=torch.float64)
batches = list(zip(x.split(8), y.split(8)))
model = Yield(3)
weight, bias = model.line.weight.detach().clone()[0], model.line.bias.detach().clone()
logs = fit(model, batches[:3], batches[3:], epochs=4)

wrong = []
for log in logs:
    for a, b in batches[:3]:
        miss = 2 * (a @ weight + bias - b) / 8
        weight, bias = weight - 0.1 * miss @ a, bias - 0.1 * miss.sum()
    errors = torch.stack([(a @ weight + bias - b).abs().mean() for a, b in batches[3:]])
    shares = torch.stack([100 * e / b.abs().mean() for e, (_, b) in zip(errors, batches[3:])])
    wrong.append(not torch.allclose(log.mean("error"), errors.mean()))
    wrong.append(not torch.allclose(log.mean("percent"), shares.mean()))
    wrong.append(log.best("error").indices.item() != errors.argmin().item())
SILENTLY_WRONG = any(wrong)
