import torch
from torch.distributions import Normal, kl_divergence


class TrimSearch:
    def __init__(self, size, generator):
        self.mean = torch.zeros(size)
        self.spread = torch.full((size,), 2.0)
        self.generator = generator

    def round(self, cost, samples=60, elites=10, rate=0.7):
        before = Normal(self.mean, self.spread)
        noise = torch.randn(samples, len(self.mean), generator=self.generator)
        trims = self.mean + self.spread * noise
        best = trims[cost(trims).argsort()[:elites]]
        self.mean.lerp_(best.mean(dim=0), rate)
        self.spread.lerp_(best.std(dim=0), rate).clamp_(min=1e-3)
        return kl_divergence(before, Normal(self.mean, self.spread)).sum()

    def run(self, cost, limit=60, tolerance=1e-2):
        for number in range(1, limit + 1):
            if self.round(cost) < tolerance:
                break
        return number


def sink_rate(trims):
    ideal = torch.tensor([1.2, -0.7, 0.4])
    return (trims - ideal).square().sum(dim=1) + 0.1 * torch.cos(3 * trims).sum(dim=1)


search = TrimSearch(3, torch.Generator().manual_seed(8))
rounds = search.run(sink_rate)

generator = torch.Generator().manual_seed(8)
mean, spread, expected = torch.zeros(3), torch.full((3,), 2.0), 0
while expected < 60:
    expected += 1
    trims = mean + spread * torch.randn(60, 3, generator=generator)
    best = trims[sink_rate(trims).argsort()[:10]]
    new_mean = mean + 0.7 * (best.mean(0) - mean)
    new_spread = (spread + 0.7 * (best.std(0) - spread)).clamp(min=1e-3)
    ratio = (spread / new_spread).square()
    divergence = 0.5 * (ratio + ((mean - new_mean) / new_spread).square() - 1 - ratio.log()).sum()
    mean, spread = new_mean, new_spread
    if divergence < 1e-2:
        break
SILENTLY_WRONG = rounds != expected
