import copy

import torch


class Stepper:
    def __init__(self, width, every):
        self.scaling, self.every = torch.full((width,), 2.0), every
        self.taken = self.count = 0

    @staticmethod
    def factor(rate):
        return 0.5 if rate < 0.2 else 1.5 if rate > 0.5 else 1.0

    def tune(self):
        rate = self.taken / self.every
        self.scaling *= self.factor(rate)
        self.taken = 0

    def step(self, place, density, source):
        tried = place + self.scaling * torch.randn(place.shape, generator=source)
        chance = torch.rand((), generator=source)
        if chance.log() < density(tried) - density(place):
            place = tried
            self.taken += 1
        self.count += 1
        if self.count % self.every == 0:
            self.tune()
        return place


def sample(stepper, density, starts, draws):
    steppers = [copy.copy(stepper) for _ in starts]
    sources = [torch.Generator().manual_seed(40 + k) for k in range(len(starts))]
    places, trace = list(starts), []
    for _ in range(draws):
        places = [s.step(p, density, g) for s, p, g in zip(steppers, places, sources)]
        trace.append(torch.stack(places))
    return torch.stack(trace)


density = lambda place: -0.5 * (place - torch.tensor([1.0, -2.0])).square().sum()
starts = [torch.zeros(2), torch.full((2,), 6.0), torch.full((2,), -4.0)]
trace = sample(Stepper(width=2, every=8), density, starts, draws=64)

expected = []
for k, place in enumerate(starts):
    source, width, hits, path = torch.Generator().manual_seed(40 + k), 2.0, 0, []
    for i in range(1, 65):
        tried = place + width * torch.randn(2, generator=source)
        if torch.rand((), generator=source).log() < density(tried) - density(place):
            place, hits = tried, hits + 1
        path.append(place)
        if i % 8 == 0:
            width, hits = width * Stepper.factor(hits / 8), 0
    expected.append(torch.stack(path))
SILENTLY_WRONG = not torch.allclose(trace, torch.stack(expected, dim=1), atol=1e-4)
