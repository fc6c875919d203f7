import itertools

import torch


class Streets:
    def __init__(self, start, moves, readings):
        self.start, self.moves, self.readings = start, moves, readings
        count = len(start)
        self.best = torch.empty(count)
        self.origin = torch.empty(count, dtype=torch.long)

    def advance(self, score, reading):
        torch.max(score[:, None] + self.moves, dim=0, out=(self.best, self.origin))
        return self.best + self.readings[:, reading], self.origin

    def route(self, seen):
        score, origins = self.start + self.readings[:, seen[0]], []
        for reading in seen[1:]:
            score, origin = self.advance(score, reading)
            origins.append(origin)
        street = int(score.argmax())
        route = [street]
        for origin in reversed(origins):
            street = int(origin[street])
            route.append(street)
        return route[::-1], float(score.max())


def weigh(streets, route, seen):
    total = streets.start[route[0]] + streets.readings[route[0], seen[0]]
    for before, now, reading in zip(route, route[1:], seen[1:]):
        total = total + streets.moves[before, now] + streets.readings[now, reading]
    return float(total)


torch.manual_seed(141)
streets = Streets(torch.randn(3), torch.randn(3, 3).log_softmax(dim=1), (torch.randn(3, 4) * 2).log_softmax(dim=1))
seen = torch.randint(0, 4, (7,)).tolist()
route, score = streets.route(seen)
best = max(weigh(streets, other, seen) for other in itertools.product(range(3), repeat=7))
SILENTLY_WRONG = abs(weigh(streets, route, seen) - best) > 1e-4
