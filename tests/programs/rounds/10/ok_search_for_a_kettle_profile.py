import torch
from torch.distributions import Normal, kl_divergence


class ProfileSearch:
    def __init__(self, size, generator):
        self.mean = torch.zeros(size)
        self.spread = torch.full((size,), 1.5)
        self.generator = generator

    def frozen(self):
        return Normal(self.mean.clone(), self.spread.clone())

    def round(self, cost, samples=50, elites=8, rate=0.6):
        before = self.frozen()
        noise = torch.randn(samples, len(self.mean), generator=self.generator)
        profiles = noise.mul_(self.spread).add_(self.mean)
        best = profiles[cost(profiles).argsort()[:elites]]
        self.mean.lerp_(best.mean(dim=0), rate)
        self.spread.lerp_(best.std(dim=0), rate).clamp_(min=1e-3)
        return kl_divergence(before, Normal(self.mean, self.spread)).sum()

    def run(self, cost, limit=50, tolerance=2e-2):
        for number in range(1, limit + 1):
            if self.round(cost) < tolerance:
                break
        return number


def boiling_cost(profiles):
    return (profiles - torch.tensor([0.8, -0.5])).square().sum(dim=1) + 0.2 * profiles.abs().sum(dim=1)


search = ProfileSearch(2, torch.Generator().manual_seed(108))
rounds = search.run(boiling_cost)

generator = torch.Generator().manual_seed(108)
mean, spread, expected = torch.zeros(2), torch.full((2,), 1.5), 0
while expected < 50:
    expected += 1
    profiles = mean + spread * torch.randn(50, 2, generator=generator)
    best = profiles[boiling_cost(profiles).argsort()[:8]]
    new_mean = mean + 0.6 * (best.mean(0) - mean)
    new_spread = (spread + 0.6 * (best.std(0) - spread)).clamp(min=1e-3)
    ratio = (spread / new_spread).square()
    divergence = 0.5 * (ratio + ((mean - new_mean) / new_spread).square() - 1 - ratio.log()).sum()
    mean, spread = new_mean, new_spread
    if divergence < 2e-2:
        break
SILENTLY_WRONG = rounds != expected or not torch.allclose(search.mean, mean, atol=1e-4)
