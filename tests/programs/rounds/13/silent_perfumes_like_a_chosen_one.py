import torch


def cosine(left, right):
    left /= left.norm(dim=1, keepdim=True)
    right /= right.norm(dim=1, keepdim=True)
    return left @ right.T


class Shelf:
    def __init__(self, scents, prices):
        self.scents, self.prices = scents, prices

    def alike(self, chosen, count):
        near = cosine(self.scents[chosen], self.scents)
        near[torch.arange(len(chosen)), chosen] = -1.0
        return near.topk(count, dim=1).indices

    def intensity(self, bottle):
        return self.scents[bottle].norm()

    def value(self, bottle):
        return self.intensity(bottle) / self.prices[bottle]


def suggest(shelf, chosen, count=4):
    picks = []
    for row in shelf.alike(chosen, count):
        picks.append(max(row.tolist(), key=lambda bottle: float(shelf.value(bottle))))
    return picks


torch.manual_seed(132)
scents = torch.randn(40, 5) * torch.linspace(0.2, 4, 40)[torch.randperm(40), None]
prices = torch.rand(40) + 0.5
given = scents.tolist()
picks = suggest(Shelf(scents, prices), torch.tensor([3, 11, 29, 36]))


def alike(a, b):
    dot = sum(x * y for x, y in zip(a, b))
    return dot / (sum(x * x for x in a) * sum(y * y for y in b)) ** 0.5


expected = []
for k in (3, 11, 29, 36):
    others = sorted((i for i in range(40) if i != k), key=lambda i: -alike(given[k], given[i]))[:4]
    expected.append(max(others, key=lambda i: sum(x * x for x in given[i]) ** 0.5 / float(prices[i])))
SILENTLY_WRONG = picks != expected
