import torch
from torch import nn


class Smoothed:
    def __init__(self, parameters, decay):
        self.decay = decay
        self.shadow = [p.detach().clone() for p in parameters]
        self.stored = None

    @torch.no_grad()
    def follow(self, parameters):
        for s, p in zip(self.shadow, parameters):
            s.sub_((1 - self.decay) * (s - p))

    def store(self, parameters):
        self.stored = [p.detach().clone() for p in parameters]

    @torch.no_grad()
    def put(self, values, parameters):
        for value, p in zip(values, parameters):
            p.copy_(value)


def fit(net, rain, runoff, rounds, rate, decay):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.5)
    smoothed = Smoothed(net.parameters(), decay)
    errors = []
    for k in range(rounds):
        optimizer.zero_grad()
        (net(rain) - runoff).square().mean().backward()
        optimizer.step()
        smoothed.follow(net.parameters())
        if k % 5 == 4:
            smoothed.store(net.parameters())
            smoothed.put(smoothed.shadow, net.parameters())
            with torch.no_grad():
                errors.append((net(rain) - runoff).square().mean().item())
            smoothed.put(smoothed.stored, net.parameters())
    return errors


torch.manual_seed(32)
rain = torch.rand(30, 3)
runoff = rain @ torch.tensor([[0.5], [0.2], [0.9]]) + 0.05 * torch.randn(30, 1)
net = nn.Linear(3, 1, bias=False)
weight = net.weight.detach().clone()
errors = fit(net, rain, runoff, rounds=20, rate=0.1, decay=0.7)
print("errors with the smoothed weights", [round(e, 5) for e in errors])

smooth, speed, expected = weight, torch.zeros(1, 3), []
for k in range(20):
    speed = 0.5 * speed + 2 * (rain @ weight.T - runoff).T @ rain / 30
    weight = weight - 0.1 * speed
    smooth = 0.7 * smooth + 0.3 * weight
    if k % 5 == 4:
        expected.append((rain @ smooth.T - runoff).square().mean().item())
SILENTLY_WRONG = not (torch.allclose(net.weight, weight, atol=1e-4)
                      and torch.allclose(torch.tensor(errors), torch.tensor(expected), atol=1e-4))
