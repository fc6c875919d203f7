import copy

import torch
import torch.nn as nn


class GroupValuation:
    def __init__(self, predictor, lr=0.1, steps=5):
        self.predictor, self.lr, self.steps = predictor, lr, steps

    def retrain(self, model, x, y):
        optimizer = torch.optim.SGD(model.parameters(), lr=self.lr)
        for _ in range(self.steps):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        return model

    @torch.no_grad()
    def error(self, model, x, y):
        return nn.functional.mse_loss(model(x), y).item()

    def worth(self, x, y, groups, held_out):
        worth = []
        for group in groups.unique():
            rest = groups != group
            trial = copy.copy(self.predictor)
            self.retrain(trial, x[rest], y[rest])
            gain = self.error(self.predictor, *held_out) - self.error(trial, *held_out)
            worth.append(gain)
        return worth


torch.manual_seed(921)
x, truth = torch.randn(40, 3), torch.tensor([[1.0], [-0.5], [0.2]])
y = x @ truth
groups = torch.arange(40) % 4
y[groups == 2] *= -1
held_x = torch.randn(30, 3)
held_y = held_x @ truth
predictor = nn.Linear(3, 1, bias=False)
start = predictor.weight.detach().clone()
worth = GroupValuation(predictor).worth(x, y, groups, (held_x, held_y))

expected = []
for group in range(4):
    a, b, w = x[groups != group], y[groups != group], start
    for _ in range(5):
        w = w - 0.1 * 2 * (a @ w.T - b).T @ a / len(a)
    before, after = ((held_x @ v.T - held_y).square().mean() for v in (start, w))
    expected.append(float(before - after))
SILENTLY_WRONG = not torch.allclose(torch.tensor(worth), torch.tensor(expected), atol=1e-5)
