import copy
import torch
import torch.nn as nn


class Pilot:
    """A net that steers a kite, with the optimizer that trains it."""

    def __init__(self, net, rate):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.8)

    def fly(self, wind, pull, turns):
        for _ in range(turns):
            self.optimizer.zero_grad()
            (self.net(wind).squeeze(1) - pull).square().mean().backward()
            self.optimizer.step()

    @torch.no_grad()
    def miss(self, wind, pull):
        return (self.net(wind).squeeze(1) - pull).square().mean()

    def offspring(self, factor):
        child = copy.copy(self)
        child.net = copy.deepcopy(self.net)
        child.optimizer = copy.deepcopy(self.optimizer)
        for group in child.optimizer.param_groups:
            group["lr"] *= factor
        return child


def breed(pilots, wind, pull, rounds, factors):
    for factor in factors[:rounds]:
        for pilot in pilots:
            pilot.fly(wind, pull, turns=3)
        pilots.sort(key=lambda pilot: pilot.miss(wind, pull).item())
        pilots = pilots[:-1] + [pilots[0].offspring(factor)]
    for pilot in pilots:
        pilot.fly(wind, pull, turns=3)
    return torch.stack([pilot.miss(wind, pull) for pilot in pilots])


torch.manual_seed(191)
wind, pull = torch.randn(30, 3), torch.randn(30)
rates = [0.03, 0.01, 0.002]
pilots = [Pilot(nn.Linear(3, 1, bias=False), rate) for rate in rates]
states = [(p.net.weight.detach().clone()[0], torch.zeros(3), r) for p, r in zip(pilots, rates)]
misses = breed(pilots, wind, pull, rounds=3, factors=[1.5, 0.7, 2.0])


def fly(state):
    w, v, rate = state
    for _ in range(3):
        v = 0.8 * v + 2 * (wind @ w - pull) @ wind / 30
        w = w - rate * v
    return w, v, rate


def miss(state):
    return (wind @ state[0] - pull).square().mean().item()


for factor in (1.5, 0.7, 2.0):
    states = sorted(map(fly, states), key=miss)
    w, v, rate = states[0]
    states = states[:-1] + [(w, v, rate * factor)]
expected = torch.tensor([miss(fly(state)) for state in states])
SILENTLY_WRONG = not torch.allclose(misses, expected, atol=1e-4)
