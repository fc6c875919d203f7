import torch


class PondLog:
    """Leaf counts of all ponds, one row a pond and one column a day."""

    def __init__(self, names, counts):
        self.names = names
        self.counts = counts

    def daily_growth(self):
        growth = self.counts.clone()
        growth[:, 1:] /= growth[:, :-1]
        return growth[:, 1:]

    def fastest(self, days):
        growth = self.daily_growth()
        recent = growth[:, -days:].log().mean(dim=1).exp()
        best = recent.argmax()
        return self.names[best], recent[best]


torch.manual_seed(4)
names = ["mill", "school", "quarry", "meadow", "inn"]
rate = torch.tensor([1.11, 1.18, 1.05, 1.23, 1.14], dtype=torch.float64)
days = torch.arange(12, dtype=torch.float64)
counts = 200 * rate[:, None] ** days * (1 + 0.02 * torch.randn(5, 12, dtype=torch.float64))
log = PondLog(names, counts)
growth = log.daily_growth()
name, top = log.fastest(days=5)
print("fastest pond", name, "grows by", round(float(top), 3))
print("growth over all ponds", growth.mean(dim=0).tolist())

expected = torch.tensor([[float(row[d + 1]) / float(row[d]) for d in range(11)] for row in counts], dtype=torch.float64)
SILENTLY_WRONG = not torch.allclose(growth, expected, rtol=1e-6)
