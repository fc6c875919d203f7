import torch


class Tally:
    """Crowds hour by hour; the sum over all stations is shared by the class."""

    everywhere = torch.zeros(4)

    def __init__(self, station):
        self.station, self.count = station, 0
        self.total = torch.zeros(4)

    def add(self, day):
        self.count += 1
        self.total += day
        self.everywhere += day

    def mean(self):
        return self.total / self.count

    def share(self):
        return self.total / self.everywhere


def watch(tallies, days):
    """Feeds the stations their days in turn, as the reports come in."""
    longest = max(len(crowds) for crowds in days.values())
    for k in range(longest):
        for station, crowds in days.items():
            if k < len(crowds):
                tallies[station].add(crowds[k])
    return {station: (tally.mean(), tally.share()) for station, tally in tallies.items()}


torch.manual_seed(296)
days = {"castle": 30 + 5 * torch.rand(6, 4), "market": 70 + 9 * torch.rand(4, 4),
        "zoo": 20 + 4 * torch.rand(5, 4)}
found = watch({station: Tally(station) for station in days}, days)

everyone = torch.cat(list(days.values())).sum(dim=0)
SILENTLY_WRONG = False
for station, crowds in days.items():
    mean, share = found[station]
    right = torch.allclose(mean, crowds.mean(0)) and torch.allclose(share, crowds.sum(0) / everyone)
    SILENTLY_WRONG |= not right
