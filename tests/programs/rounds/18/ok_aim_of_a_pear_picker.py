import torch
from torch.distributions import Normal, kl_divergence


class Picker:
    """Guesses where the pears hang; its belief follows the refits by itself."""

    def __init__(self, size, keep=0.4, least=0.05):
        self.mean, self.spread = torch.zeros(size), torch.ones(size)
        self.belief = Normal(self.mean, self.spread)
        self.keep, self.least = keep, least

    def snapshot(self):
        return Normal(self.belief.loc.clone(), self.belief.scale.clone())

    def refit(self, best):
        self.mean.mul_(self.keep).add_(best.mean(dim=0), alpha=1 - self.keep)
        self.spread.mul_(self.keep).add_(best.std(dim=0), alpha=1 - self.keep).clamp_(min=self.least)


def reach(picker, pears, noise, elite):
    moved = []
    for draws in noise:
        before = picker.snapshot()
        aims = picker.belief.loc + picker.belief.scale * draws
        far = torch.cdist(aims, pears).min(dim=1).values
        picker.refit(aims[far.argsort()[:elite]])
        moved.append(kl_divergence(picker.belief, before).sum())
    return picker.belief.mean, torch.stack(moved)


torch.manual_seed(281)
pears, noise = torch.randn(3, 2) + 1, torch.randn(6, 40, 2)
aim, moved = reach(Picker(2), pears, noise, elite=6)

mean, spread, expected = torch.zeros(2), torch.ones(2), []
for draws in noise:
    aims = mean + spread * draws
    far = torch.stack([(aims - pear).norm(dim=1) for pear in pears]).amin(0)
    best = aims[far.argsort()[:6]]
    new = 0.4 * mean + 0.6 * best.mean(0), (0.4 * spread + 0.6 * best.std(0)).clamp(min=0.05)
    ratio = (new[1] / spread) ** 2
    expected.append((0.5 * (ratio + ((new[0] - mean) / spread) ** 2 - 1 - ratio.log())).sum())
    mean, spread = new
same = torch.allclose(aim, mean, atol=1e-4) and torch.allclose(moved, torch.stack(expected), atol=1e-3)
SILENTLY_WRONG = not same
