import torch
import torch.nn as nn


class TideModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.moon = nn.Linear(4, 1)
        self.wind = nn.Linear(3, 1)

    def forward(self, phases, gusts):
        return (self.moon(phases) + self.wind(gusts)).squeeze(1)

    def groups(self):
        return [
            {"params": list(self.moon.parameters())},
            {"params": list(self.wind.parameters()), "weight_decay": 0.02},
        ]


def fit(model, optimizer, data, steps):
    phases, gusts, level = data
    for _ in range(steps):
        optimizer.zero_grad()
        (model(phases, gusts) - level).square().mean().backward()
        optimizer.step()


torch.manual_seed(160)
data = (torch.randn(50, 4), torch.randn(50, 3), torch.randn(50))
model = TideModel()
design = torch.cat([data[0], torch.ones(50, 1), data[1], torch.ones(50, 1)], dim=1)
weights = torch.cat([value.detach().flatten() for value in model.parameters()])
for rate, steps in ((0.01, 15), (0.1, 30)):
    fit(model, torch.optim.SGD(model.groups(), lr=rate), data, steps)

decay = torch.tensor([0.0] * 5 + [0.02] * 4)
for step in range(45):
    gradient = 2 * design.T @ (design @ weights - data[2]) / 50 + decay * weights
    weights = weights - (0.01 if step < 15 else 0.1) * gradient
fitted = torch.cat([value.detach().flatten() for value in model.parameters()])
SILENTLY_WRONG = not torch.allclose(fitted, weights, atol=1e-4)
