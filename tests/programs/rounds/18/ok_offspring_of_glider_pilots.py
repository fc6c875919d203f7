import copy
import torch
import torch.nn as nn


class Pilot:
    """A net that steers a glider, with the optimizer that trains it."""

    def __init__(self, net, rate):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.7)

    def fly(self, air, lift, turns):
        for _ in range(turns):
            self.optimizer.zero_grad()
            (self.net(air).squeeze(1) - lift).square().mean().backward()
            self.optimizer.step()

    @torch.no_grad()
    def miss(self, air, lift):
        return (self.net(air).squeeze(1) - lift).square().mean()

    def offspring(self, factor):
        child = copy.copy(self)
        child.net, child.optimizer = copy.deepcopy((self.net, self.optimizer))
        for group in child.optimizer.param_groups:
            group["lr"] *= factor
        return child


def breed(pilots, air, lift, factors):
    for factor in factors:
        for pilot in pilots:
            pilot.fly(air, lift, turns=2)
        pilots.sort(key=lambda pilot: pilot.miss(air, lift).item())
        pilots = pilots[:-1] + [pilots[0].offspring(factor)]
    for pilot in pilots:
        pilot.fly(air, lift, turns=2)
    return torch.stack([pilot.miss(air, lift) for pilot in pilots])


torch.manual_seed(291)
air, lift = torch.randn(20, 2), torch.randn(20)
rates = [0.05, 0.01, 0.003]
pilots = [Pilot(nn.Linear(2, 1, bias=False), rate) for rate in rates]
states = [(p.net.weight.detach().clone()[0], torch.zeros(2), r) for p, r in zip(pilots, rates)]
misses = breed(pilots, air, lift, factors=[0.5, 2.0, 1.2])


def fly(state):
    w, v, rate = state
    for _ in range(2):
        v = 0.7 * v + 2 * (air @ w - lift) @ air / 20
        w = w - rate * v
    return w, v, rate


def miss(state):
    return (air @ state[0] - lift).square().mean().item()


for factor in (0.5, 2.0, 1.2):
    states = sorted(map(fly, states), key=miss)
    w, v, rate = states[0]
    states = states[:-1] + [(w, v, rate * factor)]
expected = torch.tensor([miss(fly(state)) for state in states])
SILENTLY_WRONG = not torch.allclose(misses, expected, atol=1e-4)
