from contextlib import contextmanager

import torch
from torch import nn


class Accelerator:
    def __init__(self, gradient_accumulation_steps):
        self.pieces, self.seen, self.sync_gradients = gradient_accumulation_steps, 0, True

    @contextmanager
    def accumulate(self):
        self.seen += 1
        self.sync_gradients = self.seen % self.pieces == 0
        yield

    def backward(self, loss):
        (loss / self.pieces).backward()


class PreparedOptimizer:
    def __init__(self, optimizer, accelerator):
        self.optimizer, self.accelerator = optimizer, accelerator

    def zero_grad(self):
        if self.accelerator.sync_gradients:
            self.optimizer.zero_grad()

    def step(self):
        if self.accelerator.sync_gradients:
            self.optimizer.step()


def train(model, hours, levels, epochs):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    optimizer = PreparedOptimizer(torch.optim.SGD(model.parameters(), lr=0.3), accelerator)
    for epoch in range(epochs):
        for x, y in zip(hours.split(6), levels.split(6)):
            with accelerator.accumulate():
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(x), y)
                accelerator.backward(loss)
                optimizer.step()


torch.manual_seed(5)
time = torch.linspace(0, 120, 96, dtype=torch.float64)
waves = [torch.sin(time * s) for s in (0.506, 0.524, 0.262)] + [torch.cos(time * s) for s in (0.506, 0.524, 0.262)]
hours = torch.stack(waves, dim=1)
levels = hours @ torch.tensor([[1.8], [0.6], [0.2], [0.4], [-0.3], [0.1]], dtype=torch.float64)
model = nn.Linear(6, 1).double()
w, b = model.weight.detach().clone()[0], model.bias.detach().clone()
train(model, hours, levels, epochs=3)
print("height of the waves", model.weight.tolist())

for _ in range(3):
    for x, y in zip(hours.split(24), levels.split(24)):
        miss = x @ w + b - y[:, 0]
        w, b = w - 0.6 * (miss[:, None] * x).mean(dim=0), b - 0.6 * miss.mean()
SILENTLY_WRONG = not torch.allclose(model.weight[0], w, atol=1e-9)
