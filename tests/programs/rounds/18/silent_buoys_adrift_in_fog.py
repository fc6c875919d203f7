import torch


class Buoy:
    """One guess of where the lost buoy is and how the current carries it."""

    def __init__(self, place, current):
        self.place, self.current = place, current

    def drift(self, gust):
        self.current.mul_(0.9).add_(gust, alpha=0.1)
        self.place.add_(self.current)

    def weight(self, bearing, noise=0.4):
        seen = torch.atan2(self.place[1], self.place[0])
        return torch.exp(-0.5 * ((seen - bearing) / noise) ** 2)


def resample(buoys, weights, ticket):
    edges = (weights / weights.sum()).cumsum(dim=0)
    tickets = (torch.arange(len(buoys)) + ticket) / len(buoys)
    chosen = torch.searchsorted(edges, tickets).clamp(max=len(buoys) - 1)
    return [buoys[i] for i in chosen.tolist()]


def search(buoys, bearings, gusts, tickets):
    track = []
    for bearing, gust, ticket in zip(bearings, gusts, tickets):
        for buoy, push in zip(buoys, gust):
            buoy.drift(push)
        weights = torch.stack([buoy.weight(bearing) for buoy in buoys])
        buoys = resample(buoys, weights, ticket)
        track.append(torch.stack([buoy.place for buoy in buoys]).mean(dim=0))
    return torch.stack(track)


torch.manual_seed(183)
count, hours = 30, 6
places, currents = torch.randn(count, 2) + 3, 0.5 * torch.randn(count, 2)
gusts, tickets = torch.randn(hours, count, 2), torch.rand(hours)
bearings = torch.linspace(0.7, 1.2, hours)
buoys = [Buoy(p.clone(), c.clone()) for p, c in zip(places, currents)]
track = search(buoys, bearings, gusts, tickets)

expected = []
for bearing, gust, ticket in zip(bearings, gusts, tickets):
    currents = 0.9 * currents + 0.1 * gust
    places = places + currents
    w = torch.exp(-0.5 * ((torch.atan2(places[:, 1], places[:, 0]) - bearing) / 0.4) ** 2)
    index = torch.searchsorted((w / w.sum()).cumsum(0), (torch.arange(count) + ticket) / count)
    index = index.clamp(max=count - 1)
    places, currents = places[index], currents[index]
    expected.append(places.mean(0))
SILENTLY_WRONG = not torch.allclose(track, torch.stack(expected), atol=1e-3)
