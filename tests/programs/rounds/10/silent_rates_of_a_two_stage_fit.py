import torch
import torch.nn as nn


class DemandModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.level = nn.Linear(4, 1)
        self.season = nn.Linear(6, 1)

    def forward(self, weather, calendar):
        return (self.level(weather) + self.season(calendar)).squeeze(1)


def fit(model, optimizer, data, steps):
    weather, calendar, demand = data
    for _ in range(steps):
        optimizer.zero_grad()
        (model(weather, calendar) - demand).square().mean().backward()
        optimizer.step()


def two_stages(model, data):
    groups = [
        {"params": list(model.level.parameters())},
        {"params": list(model.season.parameters()), "weight_decay": 0.01},
    ]
    warmup = torch.optim.SGD(groups, lr=0.01)
    fit(model, warmup, data, steps=10)
    main = torch.optim.SGD(groups, lr=0.1)
    fit(model, main, data, steps=40)
    return model


torch.manual_seed(60)
data = (torch.randn(64, 4), torch.randn(64, 6), torch.randn(64))
model = DemandModel()
design = torch.cat([data[0], torch.ones(64, 1), data[1], torch.ones(64, 1)], dim=1)
weights = torch.cat([value.detach().flatten() for value in model.parameters()])
two_stages(model, data)

decay = torch.tensor([0.0] * 5 + [0.01] * 7)
for step in range(50):
    gradient = 2 * design.T @ (design @ weights - data[2]) / 64 + decay * weights
    weights = weights - (0.01 if step < 10 else 0.1) * gradient
fitted = torch.cat([value.detach().flatten() for value in model.parameters()])
SILENTLY_WRONG = not torch.allclose(fitted, weights, atol=1e-4)
