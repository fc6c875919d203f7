import torch
from torch.utils.data import BatchSampler, WeightedRandomSampler


class Meadows:
    def __init__(self, orchids, closed):
        self.orchids, self.closed = orchids, closed

    def weights(self):
        """Single precision: meadows with orchids and without get the same weight in all."""
        share = torch.bincount(self.orchids.long(), minlength=2).float()
        return 1.0 / share[self.orchids.long()]

    def plans(self, visits, seed):
        weights = self.weights()
        spring = WeightedRandomSampler(weights, visits, generator=torch.Generator().manual_seed(seed))
        weights[self.closed] = 0.0
        summer = WeightedRandomSampler(weights, visits, generator=torch.Generator().manual_seed(seed + 1))
        weights /= weights.sum()
        return spring, summer, weights


def tour(sampler, size):
    return [torch.tensor(batch) for batch in BatchSampler(sampler, batch_size=size, drop_last=False)]


torch.manual_seed(27)
count = 120
orchids = torch.rand(count) < 0.2
closed = orchids & (torch.rand(count) < 0.5)
spring, summer, chance = Meadows(orchids, closed).plans(visits=300, seed=70)
first, second = torch.cat(tour(spring, 25)), torch.cat(tour(summer, 25))
print("orchid meadows in spring", orchids[first].float().mean().item(), "in summer", orchids[second].float().mean().item())

many = int(orchids.sum())
p = torch.where(orchids, 1.0 / many, 1.0 / (count - many))
q = torch.where(closed, 0.0, p)
expected = torch.multinomial(p.double(), 300, replacement=True, generator=torch.Generator().manual_seed(70))
later = torch.multinomial(q.double(), 300, replacement=True, generator=torch.Generator().manual_seed(71))
share = abs(float(orchids[first].float().mean() - orchids[expected].float().mean())) < 0.02
share = share and abs(float(orchids[second].float().mean() - orchids[later].float().mean())) < 0.02
SILENTLY_WRONG = not (share and torch.allclose(chance, q / q.sum(), atol=1e-6) and not closed[second].any())
