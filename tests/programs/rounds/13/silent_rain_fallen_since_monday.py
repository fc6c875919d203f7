import itertools
import operator

import torch


class Week:
    def __init__(self, days):
        self.days = days

    def so_far(self):
        return list(itertools.accumulate(self.days, operator.iadd))

    def first_day_above(self, level):
        soaked = torch.full((len(self.days[0]),), len(self.days))
        for day, total in reversed(list(enumerate(self.so_far()))):
            soaked = torch.where(total > level, day, soaked)
        return soaked


def warnings(weeks, level):
    return torch.stack([Week(days).first_day_above(level) for days in weeks])


torch.manual_seed(142)
weeks = [[torch.rand(5) * 10 for _ in range(7)] for _ in range(3)]
given = torch.stack([torch.stack(days) for days in weeks])
found = warnings(weeks, 20.0)

sums = given.cumsum(dim=1)
expected = (sums <= 20.0).sum(dim=1)
SILENTLY_WRONG = not torch.equal(found, expected)
