import torch
from torch import nn


class Accumulator:
    """One step for several micro batches; zeroes the gradients only after a step."""

    def __init__(self, optimizer, every):
        self.optimizer = optimizer
        self.every = every
        self.seen = 0

    def backward(self, loss):
        (loss / self.every).backward()
        self.seen += 1

    def step(self):
        if self.seen % self.every == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()


def train(model, loader, every, lr, momentum):
    accumulator = Accumulator(torch.optim.SGD(model.parameters(), lr=lr, momentum=momentum), every)
    losses = []
    for axles, weight in loader:
        loss = (model(axles).squeeze(1) - weight).pow(2).mean()
        accumulator.backward(loss)
        accumulator.step()
        losses.append(loss.item())
    return losses


torch.manual_seed(48)
axles = torch.rand(96, 3)
weight = axles @ torch.tensor([8.0, 10.0, 10.0]) + 0.5
model = nn.Linear(3, 1)
w, b = model.weight.detach().clone()[0], model.bias.detach().clone()
loader = list(zip(axles.split(8), weight.split(8)))
losses = train(model, loader, every=4, lr=0.1, momentum=0.5)
print("losses", losses[0], losses[-1])

vw, vb = torch.zeros(3), torch.zeros(1)
for x, y in zip(axles.split(32), weight.split(32)):
    off = 2 * (x @ w + b - y) / 32
    vw, vb = 0.5 * vw + off @ x, 0.5 * vb + off.sum()
    w, b = w - 0.1 * vw, b - 0.1 * vb
SILENTLY_WRONG = not torch.allclose(model.weight[0], w, atol=1e-4)
