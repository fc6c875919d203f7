import itertools
import operator

import torch


class Winter:
    def __init__(self, days):
        self.days = days

    def so_far(self):
        nothing = torch.zeros_like(self.days[0])
        for total in itertools.accumulate(self.days, operator.iadd, initial=nothing):
            yield total

    def first_day_above(self, level):
        soaked = torch.full((len(self.days[0]),), len(self.days))
        waiting = torch.ones(len(self.days[0]), dtype=torch.bool)
        for day, total in enumerate(self.so_far()):
            reached = (total > level) & waiting
            soaked.masked_fill_(reached, day - 1)
            waiting &= ~reached
        return soaked

    def depths(self):
        return torch.stack([total.clone() for total in self.so_far()])[1:]


torch.manual_seed(242)
winters = [Winter([torch.rand(5) * 10 for _ in range(7)]) for _ in range(3)]
given = torch.stack([torch.stack(winter.days) for winter in winters])
found = torch.stack([winter.first_day_above(20.0) for winter in winters])
depths = torch.stack([winter.depths() for winter in winters])

sums = given.cumsum(dim=1)
right = torch.equal(found, (sums <= 20.0).sum(dim=1))
SILENTLY_WRONG = not (right and torch.allclose(depths, sums))
