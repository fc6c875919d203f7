import torch


class FootfallMap:
    def __init__(self, low, high, cells):
        self.low, self.high, self.cells = low, high, cells
        self.steps = torch.zeros(cells, cells, dtype=torch.float64)
        self.visitors = 0

    def cell_of(self, places):
        share = (places - self.low) / (self.high - self.low)
        return (share * self.cells).long().clamp(0, self.cells - 1)

    def add(self, places, weights):
        cell = self.cell_of(places)
        self.steps[cell[:, 0], cell[:, 1]] += weights
        self.visitors += len(places)

    def density(self):
        return self.steps / self.steps.sum()


def busiest(footfall, count):
    values, order = footfall.density().flatten().topk(count)
    rows = torch.div(order, footfall.cells, rounding_mode="floor")
    return torch.stack([rows, order % footfall.cells], dim=1), values


torch.manual_seed(31)
days = [(torch.rand(60, 2) * 40.0, torch.rand(60, dtype=torch.float64) + 0.5) for _ in range(5)]
footfall = FootfallMap(0.0, 40.0, 6)
for places, weights in days:
    footfall.add(places, weights)
cells, shares = busiest(footfall, 4)

table = [[0.0] * 6 for _ in range(6)]
for places, weights in days:
    for (x, y), w in zip(places.tolist(), weights.tolist()):
        table[min(int(x / 40.0 * 6), 5)][min(int(y / 40.0 * 6), 5)] += w
flat = sorted((v for row in table for v in row), reverse=True)
expected = torch.tensor(flat[:4], dtype=torch.float64) / sum(flat)
SILENTLY_WRONG = not torch.allclose(shares, expected, atol=1e-6)
