import torch
import torch.nn as nn


class Scale:
    def __init__(self, values):
        self.mean, self.spread = values.mean(), values.std()

    def norm(self, values):
        return (values - self.mean) / self.spread

    def restore(self, values):
        return values.mul_(self.spread).add_(self.mean)


class Trainer:
    def __init__(self, net, scale, rate):
        self.net, self.scale, self.errors = net, scale, []
        self.optimizer = torch.optim.SGD(net.parameters(), lr=rate)

    def forward(self, batch):
        return {"energy": self.net(batch["atoms"]).squeeze(1)}

    def metrics(self, out, batch):
        shown = dict(out)
        shown["energy"] = self.scale.restore(shown["energy"])
        self.errors.append((shown["energy"] - batch["energy"]).abs().mean().item())

    def loss(self, out, batch):
        return (out["energy"] - self.scale.norm(batch["energy"])).square().mean()

    def step(self, batch):
        out = self.forward(batch)
        self.metrics(out, batch)
        self.optimizer.zero_grad()
        self.loss(out, batch).backward()
        self.optimizer.step()


torch.manual_seed(146)
atoms = torch.randn(40, 5)
energy = atoms @ torch.randn(5) * 1.5 - 2.0
batches = [{"atoms": a, "energy": e} for a, e in zip(atoms.split(10), energy.split(10))]
trainer = Trainer(nn.Linear(5, 1), Scale(energy), 0.05)
weight, bias = trainer.net.weight.detach().clone()[0], trainer.net.bias.detach().clone()
for batch in batches:
    trainer.step(batch)

goal = (energy - energy.mean()) / energy.std()
for a, g in zip(atoms.split(10), goal.split(10)):
    error = a @ weight + bias - g
    weight, bias = weight - 0.05 * 2 * error @ a / 10, bias - 0.05 * 2 * error.mean()
SILENTLY_WRONG = not torch.allclose(trainer.net.weight[0], weight, atol=1e-5)
