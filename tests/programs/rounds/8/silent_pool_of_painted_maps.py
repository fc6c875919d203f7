import random

import torch


class PaintingPool:
    def __init__(self, size, shape, seed):
        self.pool = torch.zeros(size, *shape)
        self.filled = 0
        self.random = random.Random(seed)

    def exchange(self, painting):
        if self.filled < len(self.pool):
            self.pool[self.filled] = painting
            self.filled += 1
            return painting
        if self.random.random() > 0.5:
            place = self.random.randrange(len(self.pool))
            earlier = self.pool[place]
            self.pool[place] = painting
            return earlier
        return painting


def age_of_paintings(pool, painter, rounds):
    ages = []
    for number in range(rounds):
        shown = pool.exchange(painter(number))
        ages.append(number - int(shown.flatten()[0]))
    return ages


def painter(number):
    return torch.full((2, 4, 4), float(number))


ages = age_of_paintings(PaintingPool(6, (2, 4, 4), seed=817), painter, rounds=80)

chance, kept, expected = random.Random(817), [], []
for number in range(80):
    if len(kept) < 6:
        kept.append(number)
        expected.append(0)
    elif chance.random() > 0.5:
        place = chance.randrange(6)
        expected.append(number - kept[place])
        kept[place] = number
    else:
        expected.append(0)
SILENTLY_WRONG = ages != expected
