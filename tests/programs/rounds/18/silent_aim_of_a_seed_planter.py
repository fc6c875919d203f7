import torch
from torch.distributions import Normal, kl_divergence


class Planner:
    def __init__(self, size, keep=0.25, least=0.02):
        self.mean, self.spread = torch.zeros(size), torch.ones(size)
        self.keep, self.least = keep, least

    def belief(self):
        return Normal(self.mean, self.spread)

    def refit(self, best):
        self.mean.mul_(self.keep).add_(best.mean(dim=0), alpha=1 - self.keep)
        self.spread.mul_(self.keep).add_(best.std(dim=0), alpha=1 - self.keep).clamp_(min=self.least)


def cost(aims):
    target = torch.tensor([1.5, -0.5, 0.8])
    return (aims - target).square().sum(dim=1) + 0.3 * (3 * aims).cos().sum(dim=1)


def plan(planner, noise, elite, stop):
    rounds = 0
    for draws in noise:
        before = planner.belief()
        aims = before.loc + before.scale * draws
        best = aims[cost(aims).argsort()[:elite]]
        planner.refit(best)
        rounds += 1
        if kl_divergence(planner.belief(), before).sum() < stop:
            break
    return planner.mean, rounds


torch.manual_seed(181)
noise = torch.randn(12, 60, 3)
aim, rounds = plan(Planner(3), noise, elite=8, stop=0.3)

mean, spread, count = torch.zeros(3), torch.ones(3), 0
for draws in noise:
    aims = mean + spread * draws
    best = aims[cost(aims).argsort()[:8]]
    new_mean = 0.25 * mean + 0.75 * best.mean(0)
    new_spread = (0.25 * spread + 0.75 * best.std(0)).clamp(min=0.02)
    ratio = (new_spread / spread) ** 2
    apart = 0.5 * (ratio + ((new_mean - mean) / spread) ** 2 - 1 - ratio.log())
    mean, spread, count = new_mean, new_spread, count + 1
    if apart.sum() < 0.3:
        break
SILENTLY_WRONG = rounds != count or not torch.allclose(aim, mean, atol=1e-4)
