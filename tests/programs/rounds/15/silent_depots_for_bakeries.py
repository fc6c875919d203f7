import torch


class Depots:
    def __init__(self, count, rounds=50, tolerance=1e-4):
        self.count, self.rounds, self.tolerance = count, rounds, tolerance

    def assign(self, places):
        return torch.cdist(places, self.centres).argmin(dim=1)

    def update(self, places, owners):
        for k in range(self.count):
            mine = places[owners == k]
            if len(mine):
                self.centres[k] = mine.mean(dim=0)

    def converged(self, past):
        return (self.centres - past).norm(dim=1).max() < self.tolerance

    def fit(self, places):
        self.centres = places[:self.count].clone()
        for _ in range(self.rounds):
            past = self.centres
            self.update(places, self.assign(places))
            if self.converged(past):
                break
        return self


torch.manual_seed(157)
towns = torch.tensor([[0.0, 0.0], [5.0, 1.0], [2.0, 6.0]])
places = towns[torch.randint(0, 3, (60,))] + torch.randn(60, 2)
depots = Depots(count=3).fit(places)
spread = torch.cdist(places, depots.centres).amin(dim=1).square().sum()

points, middles = places.tolist(), places[:3].tolist()
for _ in range(50):
    groups = [[] for _ in middles]
    for p in points:
        away = [(p[0] - m[0]) ** 2 + (p[1] - m[1]) ** 2 for m in middles]
        groups[away.index(min(away))].append(p)
    middles = [[sum(c) / len(g) for c in zip(*g)] if g else m for g, m in zip(groups, middles)]
expected = sum(min((p[0] - m[0]) ** 2 + (p[1] - m[1]) ** 2 for m in middles) for p in points)
SILENTLY_WRONG = not torch.allclose(spread, torch.tensor(expected), rtol=1e-3)
