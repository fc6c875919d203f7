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


torch.manual_seed(39)
lanes = torch.randn(80, 5, dtype=torch.float64)
flow = (lanes @ torch.randn(5, 1, dtype=torch.float64)).clamp(-2, 2)
model = nn.Linear(5, 1).double()
w, b = model.weight.detach().clone()[0], model.bias.detach().clone()
accelerator = Accelerator(gradient_accumulation_steps=2)
optimizer = PreparedOptimizer(torch.optim.SGD(model.parameters(), lr=0.2), accelerator)
for epoch in range(3):
    for x, y in zip(lanes.split(10), flow.split(10)):
        with accelerator.accumulate():
            loss = nn.functional.mse_loss(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
print("weights of the lanes", model.weight.tolist())

for _ in range(3):
    for x, y in zip(lanes.split(20), flow.split(20)):
        miss = x @ w + b - y[:, 0]
        w, b = w - 0.4 * (miss[:, None] * x).mean(dim=0), b - 0.4 * miss.mean()
SILENTLY_WRONG = not (torch.allclose(model.weight[0], w, atol=1e-9) and torch.allclose(model.bias, b, atol=1e-9))
