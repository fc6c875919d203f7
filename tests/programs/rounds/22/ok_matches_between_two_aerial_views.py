import torch

IGNORE = -2
UNMATCHED = -1


def nearest(a, b):
    distance = torch.cdist(a, b)
    return distance.argmin(dim=1), distance.amin(dim=1)


def match(points0, points1, positive, negative):
    """Index of the partner of each point, or that there is none or that it is unsure."""
    to1, distance = nearest(points0, points1)
    to0, _ = nearest(points1, points0)
    mutual = to0[to1] == torch.arange(len(points0))
    matches = torch.full((len(points0),), UNMATCHED)
    matches[mutual] = to1[mutual]

    checked = matches[mutual]
    checked[distance[mutual] > positive] = IGNORE
    matches.masked_scatter_(mutual, checked)

    far = mutual & (distance > negative)
    matches[far] = UNMATCHED
    return matches


class Views:
    def __init__(self, count, seed):
        torch.manual_seed(seed)
        self.first = torch.rand(count, 2) * 100
        self.second = self.first[torch.randperm(count)] + 3.0 * torch.randn(count, 2)
        self.second[:4] += 30.0


views = Views(count=25, seed=58)
matches = match(views.first, views.second, positive=3.0, negative=8.0)
print("matches", matches.tolist())

expected = []
for i, p in enumerate(views.first):
    gaps = [(p - q).norm().item() for q in views.second]
    j = min(range(25), key=gaps.__getitem__)
    back = min(range(25), key=lambda k: (views.first[k] - views.second[j]).norm().item())
    if back != i or gaps[j] > 8.0:
        expected.append(UNMATCHED)
    else:
        expected.append(IGNORE if gaps[j] > 3.0 else j)
SILENTLY_WRONG = matches.tolist() != expected
