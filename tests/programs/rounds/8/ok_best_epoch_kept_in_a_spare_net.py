import copy

import torch
import torch.nn as nn


class BestKeeper:
    def __init__(self, model):
        self.spare = copy.deepcopy(model)
        self.best = float("inf")

    def offer(self, loss, model):
        if loss < self.best:
            self.best = loss
            self.spare.load_state_dict(model.state_dict())


def validate(model, x, y):
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()


torch.manual_seed(851)
model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
leaves, held_out = torch.randn(18, 6), torch.randn(50, 6)
area = leaves[:, :1] + 0.5 * torch.randn(18, 1)

keeper = BestKeeper(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
history = []
for epoch in range(120):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(leaves), area).backward()
    optimizer.step()
    history.append(validate(model, held_out, held_out[:, :1]))
    keeper.offer(history[-1], model)

final = validate(keeper.spare, held_out, held_out[:, :1])
SILENTLY_WRONG = abs(final - min(history)) > 1e-6 or history[-1] <= min(history)
