from dataclasses import dataclass

import torch
from torch.distributions import Bernoulli


@dataclass
class Night:
    model: Bernoulli
    caught: torch.Tensor


class TrapLine:
    """Voles that were caught once get shy of the traps."""

    def __init__(self, chance, shyness, seed):
        self.chance = chance
        self.shyness = shyness
        self.dice = torch.Generator().manual_seed(seed)
        self.nights = []

    def night(self):
        model = Bernoulli(probs=self.chance)
        caught = torch.rand(len(self.chance), generator=self.dice) < self.chance
        self.nights.append(Night(model, caught))
        self.chance[caught] *= self.shyness

    def log_likelihood(self):
        return sum(night.model.log_prob(night.caught.float()).sum() for night in self.nights)


torch.manual_seed(10)
first = 0.2 + 0.6 * torch.rand(40)
given = first.tolist()
line = TrapLine(first, shyness=0.5, seed=77)
for _ in range(6):
    line.night()
found = line.log_likelihood()
print("log likelihood", found.item(), "captures", sum(int(n.caught.sum()) for n in line.nights))

dice = torch.Generator().manual_seed(77)
expected = torch.zeros(())
times = torch.zeros(40)
for _ in range(6):
    p = torch.tensor(given) * 0.5 ** times
    caught = torch.rand(40, generator=dice) < p
    expected = expected + torch.where(caught, p, 1 - p).log().sum()
    times = times + caught
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-3)
