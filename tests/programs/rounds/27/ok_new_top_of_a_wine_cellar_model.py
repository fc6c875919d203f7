import torch
from torch import nn


class Cellar(nn.Module):
    def __init__(self, sensors, hidden):
        super().__init__()
        self.inner = nn.Linear(sensors, hidden)
        self.outer = nn.Linear(hidden, 1)

    def widen(self, marks):
        """A fresh top for more marks; returns the optimizer that goes with it."""
        self.outer = nn.Linear(self.inner.out_features, marks)
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def forward(self, x):
        return self.outer(torch.tanh(self.inner(x)))


def fit(model, optimizer, x, y, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()


torch.manual_seed(45)
x = torch.randn(80, 3)
warm, moist = torch.sin(x[:, 0]), x[:, 1] - 0.3 * x[:, 2]
model = Cellar(3, 8)
fit(model, torch.optim.SGD(model.parameters(), lr=0.1), x, warm[:, None], steps=30)
both = torch.stack([warm, moist], dim=1)
optimizer = model.widen(2)
start = [p.detach().clone().requires_grad_() for p in model.parameters()]
fit(model, optimizer, x, both, steps=60)
with torch.no_grad():
    error = (model(x) - both).square().mean()
print("error", error.item())

for _ in range(60):
    w1, b1, w2, b2 = start
    slopes = torch.autograd.grad((torch.tanh(x @ w1.T + b1) @ w2.T + b2 - both).square().mean(), start)
    start = [(w - 0.1 * s).detach().requires_grad_() for w, s in zip(start, slopes)]
w1, b1, w2, b2 = start
expected = (torch.tanh(x @ w1.T + b1) @ w2.T + b2 - both).square().mean()
SILENTLY_WRONG = not torch.allclose(error, expected.detach(), atol=1e-5)
