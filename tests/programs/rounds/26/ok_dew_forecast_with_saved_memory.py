import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class DewNet(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.norm = nn.BatchNorm1d(inputs)
        self.enter = nn.Linear(inputs, hidden)
        self.leave = nn.Linear(hidden, 1)

    def block(self, x):
        return self.leave(torch.relu(self.enter(x)))

    def forward(self, x):
        x = self.norm(x)
        return checkpoint(self.block, x, use_reentrant=False).squeeze(1)


def day_weights(model, x, dew):
    """Weights by the present misses, taken with the running statistics as they are."""
    model.eval()
    with torch.no_grad():
        miss = (model(x) - dew).abs()
    model.train()
    return miss / miss.mean()


torch.manual_seed(14)
nights = 2 + 1.5 * torch.randn(9, 20, 4)
dew = nights[:, :, 1] * 0.4 + nights[:, :, 3]
model = DewNet(4, 10)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for x, y in zip(nights[:8], dew[:8]):
    weights = day_weights(model, x, y)
    opt.zero_grad()
    (weights * (model(x) - y).square()).mean().backward()
    opt.step()
model.eval()
forecast = model(nights[8]).detach()
print("dew", forecast[:4].tolist())

mean, var = torch.zeros(4), torch.ones(4)
for x in nights[:8]:
    mean = 0.9 * mean + 0.1 * x.mean(dim=0)
    var = 0.9 * var + 0.1 * x.var(dim=0)
scaled = (nights[8] - mean) / (var + model.norm.eps).sqrt() * model.norm.weight + model.norm.bias
expected = model.leave(torch.relu(model.enter(scaled))).squeeze(1)
SILENTLY_WRONG = not torch.allclose(forecast, expected, atol=1e-5)
