import copy

import torch
from torch import nn

torch.manual_seed(0)


class WeightAverage:
    def __init__(self, model, decay=0.9):
        self.model = model
        self.decay = decay
        self.averaged = copy.deepcopy(model)

    @torch.no_grad()
    def update(self):
        for average, param in zip(self.averaged.parameters(), self.model.parameters()):
            average.mul_(self.decay).add_(param, alpha=1 - self.decay)

    def apply_to_model(self):
        for param, average in zip(self.model.parameters(), self.averaged.parameters()):
            param = average.data


def train(model, x, y, steps=12):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    weights = WeightAverage(model)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        weights.update()
    weights.apply_to_model()
    return weights


x, y = torch.randn(32, 4), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
weights = train(model, x, y)

test = torch.randn(10, 4)
with torch.no_grad():
    predictions = model(test)
    averaged = {name: p.clone() for name, p in weights.averaged.named_parameters()}
    expected = torch.func.functional_call(model, averaged, test)
SILENTLY_WRONG = not torch.allclose(predictions, expected)
