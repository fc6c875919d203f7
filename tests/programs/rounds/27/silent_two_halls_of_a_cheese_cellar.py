import torch
from torch import nn


class CellarModel(nn.Module):
    """What all cellar models have in common: layers, optimizer and training."""

    def __init__(self, sensors, lr=0.1):
        super().__init__()
        self.inner = nn.Linear(sensors, 4)
        self.outer = nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.parameters(), lr=lr)

    def forward(self, x):
        return self.outer(torch.tanh(self.inner(x))).squeeze(1)

    def fit(self, x, y, steps):
        for _ in range(steps):
            loss = nn.functional.mse_loss(self(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


class TwoHalls(CellarModel):
    """Needs more units, and starts from small weights."""

    def __init__(self, sensors):
        super().__init__(sensors)
        self.inner = nn.Linear(sensors, 16)
        self.outer = nn.Linear(16, 1)
        with torch.no_grad():
            for p in self.parameters():
                p.mul_(0.5)


torch.manual_seed(1)
x = torch.randn(100, 3)
humid = torch.sin(2 * x[:, 0]) - 0.4 * x[:, 1]
model = TwoHalls(3)
start = [p.detach().clone() for p in model.parameters()]
model.fit(x, humid, steps=150)
with torch.no_grad():
    guess = model(x)
print("mean error", float((guess - humid).abs().mean()))

weights = [p.requires_grad_() for p in start]
for _ in range(150):
    w1, b1, w2, b2 = weights
    out = (torch.tanh(x @ w1.T + b1) @ w2.T + b2).squeeze(1)
    slopes = torch.autograd.grad((out - humid).square().mean(), weights)
    weights = [(w - 0.1 * s).detach().requires_grad_() for w, s in zip(weights, slopes)]
w1, b1, w2, b2 = weights
expected = (torch.tanh(x @ w1.T + b1) @ w2.T + b2).squeeze(1)
SILENTLY_WRONG = not torch.allclose(guess, expected, atol=1e-2)
