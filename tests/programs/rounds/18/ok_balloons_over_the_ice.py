import copy
import torch


class Balloon:
    """One guess of where the balloon is and how the wind carries it."""

    def __init__(self, place, wind):
        self.place, self.wind = place, wind

    def drift(self, gust):
        self.wind.mul_(0.8).add_(gust, alpha=0.2)
        self.place.add_(self.wind)

    def weight(self, distance, noise=0.5):
        return torch.exp(-0.5 * ((self.place.norm() - distance) / noise) ** 2)


def resample(balloons, weights, ticket):
    edges = (weights / weights.sum()).cumsum(dim=0)
    tickets = (torch.arange(len(balloons)) + ticket) / len(balloons)
    chosen = torch.searchsorted(edges, tickets).clamp(max=len(balloons) - 1)
    return [copy.deepcopy(balloons[i]) for i in chosen.tolist()]


def follow(balloons, distances, gusts, tickets):
    track = []
    for distance, gust, ticket in zip(distances, gusts, tickets):
        for balloon, push in zip(balloons, gust):
            balloon.drift(push)
        weights = torch.stack([balloon.weight(distance) for balloon in balloons])
        balloons = resample(balloons, weights, ticket)
        track.append(torch.stack([balloon.place for balloon in balloons]).mean(dim=0))
    return torch.stack(track)


torch.manual_seed(283)
count, hours = 24, 5
places, winds = torch.randn(count, 2) + 2, torch.randn(count, 2)
gusts, tickets, distances = torch.randn(hours, count, 2), torch.rand(hours), 3 + torch.rand(hours)
balloons = [Balloon(p.clone(), w.clone()) for p, w in zip(places, winds)]
track = follow(balloons, distances, gusts, tickets)

expected = []
for distance, gust, ticket in zip(distances, gusts, tickets):
    winds = 0.8 * winds + 0.2 * gust
    places = places + winds
    w = torch.exp(-0.5 * ((places.norm(dim=1) - distance) / 0.5) ** 2)
    index = torch.searchsorted((w / w.sum()).cumsum(0), (torch.arange(count) + ticket) / count)
    index = index.clamp(max=count - 1)
    places, winds = places[index], winds[index]
    expected.append(places.mean(0))
SILENTLY_WRONG = not torch.allclose(track, torch.stack(expected), atol=1e-3)
