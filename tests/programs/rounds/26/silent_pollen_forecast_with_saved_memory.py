import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Forecaster(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.norm = nn.BatchNorm1d(inputs)
        self.enter = nn.Linear(inputs, hidden)
        self.leave = nn.Linear(hidden, 1)

    def block(self, x):
        return torch.relu(self.enter(self.norm(x)))

    def forward(self, x):
        hidden = checkpoint(self.block, x, use_reentrant=False)
        return self.leave(hidden).squeeze(1)


class BalancedLoss:
    """Gives more weight to the days that the model misses most at present."""

    def __init__(self, model):
        self.model = model

    def __call__(self, predicted, x, pollen):
        with torch.no_grad():
            miss = (self.model(x) - pollen).abs()
        return (miss / miss.mean() * (predicted - pollen).square()).mean()


torch.manual_seed(13)
weather = 4 + 3 * torch.randn(40, 16, 5)
pollen = weather[:, :, 0] - 0.5 * weather[:, :, 1]
model = Forecaster(5, 12)
balanced = BalancedLoss(model)
opt = torch.optim.SGD(model.parameters(), lr=0.005)
for x, y in zip(weather[:6], pollen[:6]):
    opt.zero_grad()
    balanced(model(x), x, y).backward()
    opt.step()
model.eval()
forecast = model(weather[6]).detach()
print("forecast", forecast[:4].tolist())

mean, var = torch.zeros(5), torch.ones(5)
for x in weather[:6]:
    mean = 0.9 * mean + 0.1 * x.mean(dim=0)
    var = 0.9 * var + 0.1 * x.var(dim=0)
scaled = (weather[6] - mean) / (var + model.norm.eps).sqrt() * model.norm.weight + model.norm.bias
expected = model.leave(torch.relu(model.enter(scaled))).squeeze(1)
SILENTLY_WRONG = not torch.allclose(forecast, expected, atol=1e-4)
