import torch
import torch.nn as nn


class Refiner(nn.Module):
    def __init__(self, width, rounds):
        super().__init__()
        step = nn.Linear(width, width)
        nn.init.zeros_(step.weight)
        nn.init.zeros_(step.bias)
        self.rounds = nn.ModuleList([step] * rounds)

    def forward(self, field):
        for step in self.rounds:
            field = field + torch.tanh(step(field))
        return field


def train(net, fields, targets, steps, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        (net(fields) - targets).square().mean().backward()
        optimizer.step()
    return net(fields).detach()


torch.manual_seed(40)
fields = torch.randn(12, 4, dtype=torch.float64)
targets = fields + 0.5 * torch.randn(12, 4, dtype=torch.float64)
net = Refiner(4, 4).double()
refined = train(net, fields, targets, steps=15, rate=0.1)


def unrolled(weight, bias):
    states, slopes = [fields], []
    for _ in range(4):
        rise = torch.tanh(states[-1] @ weight.T + bias)
        slopes.append(1 - rise ** 2)
        states.append(states[-1] + rise)
    return states, slopes


weight, bias = torch.zeros(4, 4, dtype=torch.float64), torch.zeros(4, dtype=torch.float64)
for _ in range(15):
    states, slopes = unrolled(weight, bias)
    back = 2 * (states[-1] - targets) / targets.numel()
    by_weight, by_bias = 0.0, 0.0
    for state, slope in zip(states[-2::-1], slopes[::-1]):
        local = back * slope
        by_weight, by_bias = by_weight + local.T @ state, by_bias + local.sum(dim=0)
        back = back + local @ weight
    weight, bias = weight - 0.1 * by_weight, bias - 0.1 * by_bias
SILENTLY_WRONG = not torch.allclose(refined, unrolled(weight, bias)[0][-1], atol=1e-9)
