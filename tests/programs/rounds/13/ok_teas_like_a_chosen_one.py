import torch


class Index:
    def __init__(self, vectors):
        self.strength = vectors.norm(dim=1)
        self.vectors = vectors.clone()
        self.vectors /= self.strength[:, None]

    def nearest(self, queries, count):
        queries = queries.float() if queries.dtype != torch.float32 else queries.clone()
        queries /= queries.norm(dim=1, keepdim=True)
        near = queries @ self.vectors.T
        return near.topk(count, dim=1).indices


class Shelf:
    def __init__(self, teas, prices):
        self.teas, self.prices, self.index = teas, prices, Index(teas)

    def suggest(self, tasted, count=4):
        value = self.index.strength / self.prices
        rows = self.index.nearest(tasted, count)
        return [int(row[value[row].argmax()]) for row in rows]

    def mean_strength(self):
        return self.teas.norm(dim=1).mean()


torch.manual_seed(232)
teas = torch.randn(40, 5) * torch.linspace(0.2, 4, 40)[torch.randperm(40), None]
prices, tasted = torch.rand(40) + 0.5, torch.randn(5, 5) * 3
given, asked = teas.tolist(), tasted.tolist()
shelf = Shelf(teas, prices)
picks = shelf.suggest(tasted) + shelf.suggest(tasted.double())


def alike(a, b):
    dot = sum(x * y for x, y in zip(a, b))
    return dot / (sum(x * x for x in a) * sum(y * y for y in b)) ** 0.5


expected = []
for row in asked:
    others = sorted(range(40), key=lambda i: -alike(row, given[i]))[:4]
    expected.append(max(others, key=lambda i: sum(x * x for x in given[i]) ** 0.5 / float(prices[i])))
mean = sum(sum(x * x for x in row) ** 0.5 for row in given) / 40
SILENTLY_WRONG = picks != expected * 2 or abs(float(shelf.mean_strength()) - mean) > 1e-4
