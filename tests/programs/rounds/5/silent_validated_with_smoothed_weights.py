import copy

import torch
from torch import nn


class SmoothedWeights:
    def __init__(self, parameters, decay):
        self.decay = decay
        self.shadow = [p.detach().clone() for p in parameters]

    @torch.no_grad()
    def update(self, parameters):
        for s, p in zip(self.shadow, parameters):
            s.lerp_(p, 1 - self.decay)

    @torch.no_grad()
    def copy_to(self, parameters):
        for s, p in zip(self.shadow, parameters):
            p.copy_(s)


def validate(model, smoothed, x, y):
    smoothed.copy_to(model.parameters())
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()


def fit(model, data, held_out, validate_every):
    smoothed = SmoothedWeights(model.parameters(), decay=0.9)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    curve = []
    for step, (x, y) in enumerate(data, start=1):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smoothed.update(model.parameters())
        if validate_every and step % validate_every == 0:
            curve.append(validate(model, smoothed, *held_out))
    return model, curve


torch.manual_seed(13)
data = [(x, x.sin().sum(1, keepdim=True)) for x in torch.randn(40, 16, 3)]
x = torch.randn(32, 3)
held_out = x, x.sin().sum(1, keepdim=True)
net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))

watched, curve = fit(copy.deepcopy(net), data, held_out, validate_every=10)
plain, _ = fit(copy.deepcopy(net), data, held_out, validate_every=0)
same = [torch.allclose(a, b, atol=1e-6) for a, b in zip(watched.parameters(), plain.parameters())]
SILENTLY_WRONG = not all(same)
