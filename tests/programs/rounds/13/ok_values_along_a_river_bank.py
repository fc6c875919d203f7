import torch
import torch.nn as nn


class Bank:
    def __init__(self, length, seed):
        self.length, self.dice = length, torch.Generator().manual_seed(seed)

    def walk(self):
        place = self.length // 2
        while 0 < place < self.length - 1:
            step = 1 if torch.rand((), generator=self.dice) < 0.5 else -1
            yield place, place + step, float(place + step == self.length - 1)
            place += step


class Learner:
    def __init__(self, length, fade, rate, discount=0.95):
        self.features = torch.eye(length).add_(0.3)
        self.values = nn.Linear(length, 1, bias=False)
        nn.init.zeros_(self.values.weight)
        self.trace = torch.zeros_like(self.values.weight)
        self.fade, self.rate, self.discount = fade, rate, discount

    def episode(self, steps):
        self.trace.zero_()
        for place, follow, reward in steps:
            value = self.values(self.features[place])
            self.values.zero_grad(set_to_none=False)
            value.sum().backward()
            slope = self.values.weight.grad
            self.trace.mul_(self.discount * self.fade).add_(slope)
            with torch.no_grad():
                ahead = self.values(self.features[follow]) if 0 < follow < len(self.features) - 1 else 0.0
                surprise = reward + self.discount * ahead - value
                self.values.weight += slope.copy_(self.trace).mul_(self.rate * surprise)


learner = Learner(7, 0.8, 0.05)
bank = Bank(7, seed=3)
for _ in range(12):
    learner.episode(bank.walk())

features, weight, bank = learner.features.tolist(), [0.0] * 7, Bank(7, seed=3)
for _ in range(12):
    trace = [0.0] * 7
    for place, follow, reward in bank.walk():
        now, ahead = [sum(w * f for w, f in zip(weight, features[k])) for k in (place, follow)]
        trace = [0.95 * 0.8 * t + f for t, f in zip(trace, features[place])]
        surprise = reward + 0.95 * (ahead if 0 < follow < 6 else 0.0) - now
        weight = [w + 0.05 * surprise * t for w, t in zip(weight, trace)]
SILENTLY_WRONG = not torch.allclose(learner.values.weight[0], torch.tensor(weight), atol=1e-5)
