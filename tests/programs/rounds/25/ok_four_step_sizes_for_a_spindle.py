import copy

import torch
from torch import nn

torch.manual_seed(52)
turns = torch.linspace(-1, 1, 30)[:, None]
sway = 0.5 * torch.cos(4 * turns) - 0.1 * turns
spindle = nn.Sequential(nn.Linear(1, 10), nn.Tanh(), nn.Linear(10, 1))
begin = copy.deepcopy(spindle.state_dict())


def train(model, rate, steps=40):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.5)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(turns), sway)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


first_loss = nn.functional.mse_loss(spindle(turns), sway).item()
curves = {}
for rate in (0.2, 0.1, 0.02, 0.005):
    spindle.load_state_dict(begin)
    curves[rate] = train(spindle, rate)
best = min(curves, key=lambda rate: curves[rate][-1])
spindle.load_state_dict(begin)
again = train(spindle, best)
print("chosen", best, "loss", round(again[-1], 4))
SILENTLY_WRONG = any(abs(c[0] - first_loss) > 1e-6 for c in curves.values()) or abs(again[-1] - curves[best][-1]) > 1e-6
