import torch
import torch.nn as nn


class NoisyScorer(nn.Module):
    def __init__(self, features, noise):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features) * 0.1)
        self.bias = nn.Parameter(torch.zeros(()))
        self.noise = noise

    def forward(self, x):
        return (x + self.noise * torch.randn_like(x)) @ self.weight + self.bias


class PlainScorer(nn.Module):
    def __init__(self, source):
        super().__init__()
        self.weight = source.weight
        self.bias = source.bias

    def forward(self, x):
        return torch.addmv(self.bias, x, self.weight)


torch.manual_seed(27)
training = NoisyScorer(4, noise=0.05)
serving = PlainScorer(training)
optimizer = torch.optim.SGD(training.parameters(), lr=0.1)
x = torch.randn(50, 4)
y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0]) + 0.3

curve = []
for step in range(15):
    optimizer.zero_grad()
    (training(x) - y).pow(2).mean().backward()
    optimizer.step()
    with torch.no_grad():
        curve.append((serving(x) - y).pow(2).mean())

torch.manual_seed(27)
w, b = torch.randn(4) * 0.1, torch.zeros(())
torch.randn(50, 4)
expected = []
for step in range(15):
    noisy = x + 0.05 * torch.randn(50, 4)
    residual = noisy @ w + b - y
    w, b = w - 0.1 * 2 * residual @ noisy / 50, b - 0.1 * 2 * residual.mean()
    expected.append((x @ w + b - y).pow(2).mean())
SILENTLY_WRONG = not torch.allclose(torch.stack(curve), torch.stack(expected), atol=1e-4)
