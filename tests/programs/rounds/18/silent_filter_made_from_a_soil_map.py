import torch
import torch.nn as nn
import torch.nn.functional as F


class Runoff(nn.Module):
    """A linear filter whose weights were made by another net."""

    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight.squeeze(0))

    def forward(self, rain):
        return F.linear(rain, self.weight)


class FromSoil(nn.Module):
    def __init__(self, soil, days, hidden=6):
        super().__init__()
        self.days = days
        self.body = nn.Sequential(nn.Linear(soil, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, days)

    def forward(self, soil):
        return Runoff(self.head(self.body(soil)).view(1, 1, self.days))


def train(maker, basins, steps, rate):
    optimizer = torch.optim.Adam(maker.parameters(), lr=rate)
    history = []
    for _ in range(steps):
        optimizer.zero_grad()
        losses = [(maker(soil)(rain).squeeze(1) - flow).square().mean() for soil, rain, flow in basins]
        loss = torch.stack(losses).mean()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return history


torch.manual_seed(186)
maker = FromSoil(soil=3, days=4)
start = {name: value.detach().clone() for name, value in maker.named_parameters()}
basins = [(torch.randn(3), torch.rand(10, 4), torch.rand(10)) for _ in range(3)]
history = train(maker, basins, steps=12, rate=0.05)

leaves = {name: value.clone().requires_grad_() for name, value in start.items()}
optimizer = torch.optim.Adam(leaves.values(), lr=0.05)
expected = []
for _ in range(12):
    losses = []
    for soil, rain, flow in basins:
        inner = torch.tanh(leaves["body.0.weight"] @ soil + leaves["body.0.bias"])
        made = leaves["head.weight"] @ inner + leaves["head.bias"]
        losses.append((rain @ made - flow).square().mean())
    loss = sum(losses) / 3
    for leaf, slope in zip(leaves.values(), torch.autograd.grad(loss, list(leaves.values()))):
        leaf.grad = slope
    optimizer.step()
    expected.append(loss.item())
SILENTLY_WRONG = not torch.allclose(torch.tensor(history), torch.tensor(expected), atol=1e-4)
