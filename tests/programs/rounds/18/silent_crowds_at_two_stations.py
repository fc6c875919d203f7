import torch


class Tally:
    """Running mean and spread of the crowd, hour of day by hour of day."""

    count = 0
    total = torch.zeros(4)
    squares = torch.zeros(4)

    def __init__(self, station):
        self.station = station

    def add(self, day):
        self.count += 1
        self.total += day
        self.squares += day ** 2

    def mean(self):
        return self.total / self.count

    def spread(self):
        return (self.squares / self.count - self.mean() ** 2).clamp(min=0).sqrt()

    def odd(self, day, limit=2.0):
        return (day - self.mean()).abs() > limit * self.spread()


def watch(tallies, days):
    """Feeds each station its days, then marks the odd hours among them."""
    for station, crowds in days.items():
        for day in crowds:
            tallies[station].add(day)
    return {station: torch.stack([tallies[station].odd(day) for day in crowds])
            for station, crowds in days.items()}


torch.manual_seed(196)
days = {"harbour": 40 + 6 * torch.randn(14, 4), "museum": 90 + 15 * torch.randn(9, 4)}
days["harbour"][5, 2] += 60
days["museum"][3, 0] -= 80
odd = watch({station: Tally(station) for station in days}, days)

SILENTLY_WRONG = False
for station, crowds in days.items():
    spread, mean = torch.std_mean(crowds, dim=0, correction=0)
    SILENTLY_WRONG |= not torch.equal(odd[station], (crowds - mean).abs() > 2 * spread)
