import torch


class Padder:
    """Brings batches to the lengths that the kernels are tuned for, in memory that is kept."""

    def __init__(self, lengths):
        self.lengths = sorted(lengths)
        self.kept = {}

    def __call__(self, rows):
        length = next(n for n in self.lengths if n >= len(rows))
        key = (length, rows.shape[1:], rows.dtype)
        buffer = self.kept.get(key)
        if buffer is None:
            buffer = torch.zeros(length, *rows.shape[1:], dtype=rows.dtype)
            self.kept[key] = buffer
        buffer[:len(rows)].copy_(rows)
        return buffer


class SpendingByAisle:
    def __init__(self, prices, aisles, padder):
        self.prices, self.aisles, self.padder = prices, aisles, padder

    def __call__(self, baskets):
        counts = self.padder(baskets)
        spent = counts * self.prices
        return spent.sum(dim=0) @ self.aisles


torch.manual_seed(27)
items = 12
prices = 0.5 + 5 * torch.rand(items)
aisles = torch.nn.functional.one_hot(torch.arange(items) % 4, 4).float()
hours = [torch.randint(0, 4, (n, items)).float() for n in (14, 9, 16, 3, 30, 21, 11)]
spending = SpendingByAisle(prices, aisles, Padder([8, 16, 32]))
totals = torch.stack([spending(baskets) for baskets in hours])
print("spent by hour", totals.sum(dim=1).tolist())

expected = []
for baskets in hours:
    by_item = (baskets.sum(dim=0) * prices).tolist()
    expected.append([sum(by_item[aisle::4]) for aisle in range(4)])
SILENTLY_WRONG = not torch.allclose(totals, torch.tensor(expected), rtol=1e-4)
