import copy

import torch


class Stepper:
    def __init__(self, width, every):
        self.scaling, self.every = torch.full((width,), 1.5), every
        self.taken = self.count = 0

    def fresh(self):
        other = copy.copy(self)
        other.scaling = self.scaling.clone()
        return other

    def tune(self):
        rate = self.taken / self.every
        if rate < 0.2:
            self.scaling.mul_(0.5)
        elif rate > 0.5:
            self.scaling.mul_(1.5)
        self.taken = 0

    def step(self, place, density, source):
        tried = torch.randn(place.shape, generator=source).mul_(self.scaling).add_(place)
        if torch.rand((), generator=source).log() < density(tried) - density(place):
            place.copy_(tried)
            self.taken += 1
        self.count += 1
        if self.count % self.every == 0:
            self.tune()


def sample(stepper, density, starts, draws):
    steppers = [stepper.fresh() for _ in starts]
    sources = [torch.Generator().manual_seed(60 + k) for k in range(len(starts))]
    places, trace = starts.clone(), torch.zeros(draws, *starts.shape)
    for i in range(draws):
        for stepper, place, source in zip(steppers, places, sources):
            stepper.step(place, density, source)
        trace[i] = places
    return trace


density = lambda place: -0.5 * (place - torch.tensor([0.5, 2.0])).square().sum()
starts = torch.tensor([[0.0, 0.0], [5.0, 5.0]])
trace = sample(Stepper(width=2, every=6), density, starts, draws=48)

expected = []
for k, place in enumerate(starts):
    source, width, hits, path = torch.Generator().manual_seed(60 + k), 1.5, 0, []
    for i in range(1, 49):
        tried = place + width * torch.randn(2, generator=source)
        if torch.rand((), generator=source).log() < density(tried) - density(place):
            place, hits = tried, hits + 1
        path.append(place)
        if i % 6 == 0:
            width, hits = width * (0.5 if hits / 6 < 0.2 else 1.5 if hits / 6 > 0.5 else 1.0), 0
    expected.append(torch.stack(path))
SILENTLY_WRONG = not torch.allclose(trace, torch.stack(expected, dim=1), atol=1e-4)
