import numpy as np
import torch
from torch import nn


def get_weights(model):
    return [p.detach().numpy() for p in model.parameters()]


class Trail:
    """Keeps the weights of every epoch to see how far a training run has gone."""

    def __init__(self, model):
        self.model = model
        self.epochs = [get_weights(model)]

    def note(self):
        self.epochs.append(get_weights(self.model))

    def steps(self):
        flat = [np.concatenate([w.ravel() for w in weights]) for weights in self.epochs]
        return [float(np.linalg.norm(b - a)) for a, b in zip(flat, flat[1:])]

    def settled_after(self, share):
        walked = np.cumsum(self.steps())
        return int(np.searchsorted(walked, share * walked[-1]))


def fit(model, speeds, power, trail, epochs, rate):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(epochs):
        optimizer.zero_grad()
        (model(speeds) - power).square().mean().backward()
        optimizer.step()
        trail.note()


torch.manual_seed(2)
speeds = torch.randn(40, 3)
power = speeds @ torch.tensor([[2.0], [-1.0], [0.5]]) + 3
model = nn.Linear(3, 1)
w, b = model.weight.detach().clone(), model.bias.detach().clone()
trail = Trail(model)
fit(model, speeds, power, trail, epochs=25, rate=0.1)
print("way", sum(trail.steps()), "settled after epoch", trail.settled_after(0.9))

way = 0.0
for _ in range(25):
    miss = 2 * (speeds @ w.T + b - power) / 40
    dw, db = -0.1 * miss.T @ speeds, -0.1 * miss.sum(dim=0)
    way += (dw.square().sum() + db.square().sum()).sqrt().item()
    w, b = w + dw, b + db
SILENTLY_WRONG = abs(sum(trail.steps()) - way) > 1e-3
