import torch


class Posts:
    def __init__(self, count, rounds=50, tolerance=1e-4):
        self.count, self.rounds, self.tolerance = count, rounds, tolerance

    def update(self, places, owners):
        self.sums.zero_().index_add_(0, owners, places)
        self.sizes.zero_().index_add_(0, owners, torch.ones(len(places)))
        full = self.sizes > 0
        self.centres[full] = self.sums[full] / self.sizes[full, None]

    def fit(self, places):
        self.centres = places[:self.count].clone()
        past = torch.empty_like(self.centres)
        self.sums, self.sizes = torch.zeros_like(self.centres), torch.zeros(self.count)
        for _ in range(self.rounds):
            past.copy_(self.centres)
            self.update(places, torch.cdist(places, self.centres).argmin(dim=1))
            if past.sub_(self.centres).norm(dim=1).max() < self.tolerance:
                break
        return self


torch.manual_seed(158)
bays = torch.tensor([[0.0, 0.0], [6.0, 0.0], [3.0, 5.0], [9.0, 4.0]])
places = bays[torch.randint(0, 4, (70,))] + torch.randn(70, 2)
posts = Posts(count=4).fit(places)
spread = torch.cdist(places, posts.centres).amin(dim=1).square().sum()

points, middles = places.tolist(), places[:4].tolist()
for _ in range(50):
    groups = [[] for _ in middles]
    for p in points:
        away = [(p[0] - m[0]) ** 2 + (p[1] - m[1]) ** 2 for m in middles]
        groups[away.index(min(away))].append(p)
    middles = [[sum(c) / len(g) for c in zip(*g)] if g else m for g, m in zip(groups, middles)]
expected = sum(min((p[0] - m[0]) ** 2 + (p[1] - m[1]) ** 2 for m in middles) for p in points)
SILENTLY_WRONG = not torch.allclose(spread, torch.tensor(expected), rtol=1e-3)
