import torch


class Sightings:
    def __init__(self, size, hour, score):
        self.size, self.hour, self.score = size, hour, score

    def discount(self, small, dusk, factor):
        candidates = self.size < small
        doubtful = self.score[candidates]
        doubtful[self.hour[candidates] > dusk] *= factor
        self.score[candidates] = doubtful
        return self

    def drop(self, low):
        keep = self.score >= low
        return Sightings(self.size[keep], self.hour[keep], self.score[keep])


def tally(sightings, small, dusk, low):
    kept = sightings.discount(small, dusk, 0.25).drop(low)
    by_hour = torch.zeros(24, dtype=torch.float64)
    by_hour.index_add_(0, kept.hour.long(), kept.score)
    by_hour[5:10].mul_(2.0)
    return len(kept.score), by_hour


torch.manual_seed(9)
size = torch.rand(80, dtype=torch.float64) * 50
hour = torch.randint(5, 22, (80,)).double()
score = torch.rand(80, dtype=torch.float64)
given = score.tolist()
count, by_hour = tally(Sightings(size, hour, score), small=20.0, dusk=17.0, low=0.3)

expected, table = 0, [0.0] * 24
for s, h, value in zip(size.tolist(), hour.tolist(), given):
    if s < 20.0 and h > 17.0:
        value *= 0.25
    if value >= 0.3:
        expected += 1
        table[int(h)] += value * (2.0 if h < 10 else 1.0)
same = torch.allclose(by_hour, torch.tensor(table, dtype=torch.float64))
SILENTLY_WRONG = not (count == expected and same)
