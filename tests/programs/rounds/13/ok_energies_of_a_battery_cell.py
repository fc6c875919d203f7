import torch
import torch.nn as nn


class Scale:
    def __init__(self, values):
        self.mean, self.spread = values.mean(), values.std()

    def norm(self, values):
        return (values - self.mean) / self.spread

    @torch.no_grad()
    def restore(self, values):
        return values.mul_(self.spread).add_(self.mean)


class Trainer:
    def __init__(self, net, scale, rate):
        self.net, self.scale, self.errors = net, scale, []
        self.optimizer = torch.optim.SGD(net.parameters(), lr=rate)

    def metrics(self, out, batch):
        shown = dict(out)
        shown["energy"] = self.scale.restore(shown["energy"])
        self.errors.append((shown["energy"] - batch["energy"]).abs_().mean().item())

    def loss(self, out, batch):
        return (out["energy"] - self.scale.norm(batch["energy"])).square_().mean()

    def step(self, batch):
        out = {"energy": self.net(batch["cells"]).squeeze(1)}
        self.optimizer.zero_grad()
        self.loss(out, batch).backward()
        self.optimizer.step()
        self.metrics({"energy": out["energy"].detach()}, batch)


torch.manual_seed(246)
cells = torch.randn(40, 5)
energy = cells @ torch.randn(5) * 1.5 - 2.0
batches = [{"cells": a, "energy": e} for a, e in zip(cells.split(10), energy.split(10))]
trainer = Trainer(nn.Linear(5, 1), Scale(energy), 0.05)
weight, bias = trainer.net.weight.detach().clone()[0], trainer.net.bias.detach().clone()
for batch in batches:
    trainer.step(batch)

goal, errors = (energy - energy.mean()) / energy.std(), []
for a, g in zip(cells.split(10), goal.split(10)):
    error = a @ weight + bias - g
    errors.append(float(error.abs().mean() * energy.std()))
    weight, bias = weight - 0.05 * 2 * error @ a / 10, bias - 0.05 * 2 * error.mean()
near = max(abs(a - b) for a, b in zip(trainer.errors, errors)) < 1e-4
SILENTLY_WRONG = not (near and torch.allclose(trainer.net.weight[0], weight, atol=1e-5))
