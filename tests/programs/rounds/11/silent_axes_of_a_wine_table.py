import torch


class Axes:
    def __init__(self, count):
        self.count = count

    def fit(self, table):
        self.mean = table.mean(dim=0)
        self.spread = table.std(dim=0)
        table -= self.mean
        table /= self.spread
        _, self.sizes, vectors = torch.linalg.svd(table, full_matrices=False)
        self.vectors = vectors[:self.count]
        return self

    def transform(self, table):
        return ((table - self.mean) / self.spread) @ self.vectors.T

    def restore(self, scores):
        return scores @ self.vectors * self.spread + self.mean


def loss_of_detail(table, count):
    axes = Axes(count).fit(table)
    restored = axes.restore(axes.transform(table))
    return (restored - table).square().mean()


torch.manual_seed(21)
table = torch.randn(50, 6, dtype=torch.float64) @ torch.randn(6, 6, dtype=torch.float64) + 7.0
given = table.clone()
measured = loss_of_detail(table, 3)

mean, spread = given.mean(dim=0), given.std(dim=0)
scaled = (given - mean) / spread
values, vectors = torch.linalg.eigh(scaled.T @ scaled)
kept = vectors[:, -3:]
expected = ((scaled @ kept @ kept.T) * spread + mean - given).square().mean()
SILENTLY_WRONG = not torch.allclose(measured, expected)
