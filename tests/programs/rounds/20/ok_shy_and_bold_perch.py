import torch
from torch.distributions import Bernoulli


class Pond:
    """Perch that were hooked once are less likely to bite again; all forget a little overnight."""

    def __init__(self, chance, shyness, memory, seed):
        self.first = chance.clone()
        self.chance = chance
        self.shyness, self.memory = shyness, memory
        self.dice = torch.Generator().manual_seed(seed)
        self.log_likelihood = torch.zeros(())

    def evening(self):
        model = Bernoulli(probs=self.chance)
        bites = torch.rand(len(self.chance), generator=self.dice) < self.chance
        self.log_likelihood += model.log_prob(bites.float()).sum()
        self.chance[bites] *= self.shyness
        self.chance.lerp_(self.first, 1 - self.memory)
        return bites


torch.manual_seed(11)
first = 0.1 + 0.5 * torch.rand(30)
given = first.tolist()
pond = Pond(first, shyness=0.4, memory=0.9, seed=8)
bites = torch.stack([pond.evening() for _ in range(8)])
print("bites", bites.sum(dim=1).tolist(), "log likelihood", pond.log_likelihood.item())

expected = 0.0
for fish in range(30):
    p = given[fish]
    for evening in range(8):
        bite = bool(bites[evening, fish])
        expected += float(torch.log(torch.tensor(p if bite else 1 - p)))
        p = 0.9 * (0.4 * p if bite else p) + 0.1 * given[fish]
SILENTLY_WRONG = abs(pond.log_likelihood.item() - expected) > 1e-2
