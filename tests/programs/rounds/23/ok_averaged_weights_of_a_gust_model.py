from contextlib import contextmanager

import torch
from torch import nn


class ExponentialMovingAverage:
    def __init__(self, parameters, decay):
        self.parameters, self.decay = list(parameters), decay
        self.shadow = [p.detach().clone() for p in self.parameters]

    @torch.no_grad()
    def update(self):
        for s, p in zip(self.shadow, self.parameters):
            s.sub_((1 - self.decay) * (s - p))

    @contextmanager
    def average_parameters(self):
        """The averages stand in for the parameters inside the block, and leave again after it."""
        kept = [p.detach().clone() for p in self.parameters]
        with torch.no_grad():
            for s, p in zip(self.shadow, self.parameters):
                p.copy_(s)
        try:
            yield
        finally:
            for k, p in zip(kept, self.parameters):
                p.data.copy_(k)


torch.manual_seed(50)
masts = torch.randn(50, 4, dtype=torch.float64)
gusts = masts @ torch.tensor([[1.0], [0.5], [-0.5], [0.2]], dtype=torch.float64)
gusts = gusts + 0.3 * torch.randn(50, 1, dtype=torch.float64)
model = nn.Linear(4, 1).double()
w, b = model.weight.detach().clone()[0], model.bias.detach().clone()
slow_w, slow_b = w, b
ema = ExponentialMovingAverage(model.parameters(), decay=0.9)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
scores = []
for epoch in range(4):
    for x, y in zip(masts.split(10), gusts.split(10)):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        ema.update()
    with ema.average_parameters(), torch.no_grad():
        scores.append(float(nn.functional.mse_loss(model(masts), gusts)))
print("error of the averages", scores)

expected = []
for _ in range(4):
    for x, y in zip(masts.split(10), gusts.split(10)):
        miss = x @ w + b - y[:, 0]
        w, b = w - 0.4 * (miss[:, None] * x).mean(dim=0), b - 0.4 * miss.mean()
        slow_w, slow_b = 0.9 * slow_w + 0.1 * w, 0.9 * slow_b + 0.1 * b
    expected.append(float((masts @ slow_w + slow_b - gusts[:, 0]).square().mean()))
same = torch.allclose(torch.tensor(scores), torch.tensor(expected), atol=1e-6)
SILENTLY_WRONG = not (same and torch.allclose(model.weight[0], w, atol=1e-9))
