import torch

INF = float("inf")


class DriftModel:
    """Log chances that a buoy drifts from one cell of the bay to another."""

    def __init__(self, cells):
        self.moves = torch.empty((cells, cells)).fill_(-INF)

    def add_move(self, a, b, chance):
        self.moves[a, b] = torch.log(torch.tensor(chance))

    def chances(self, start, hours):
        """Log chance of each cell after some hours."""
        table = torch.empty(hours + 1, len(self.moves))
        table[0] = -INF
        table[0, start] = 0.0
        for hour in range(hours):
            torch.logsumexp(table[hour][:, None] + self.moves, dim=0, out=table[hour + 1])
        return table[-1]


cells, hours = 60, 6

model = DriftModel(cells)
for a in range(cells):
    for step, chance in [(0, 0.2), (1, 0.5), (7, 0.3)]:
        model.add_move(a, (a + step) % cells, chance)
result = model.chances(start=10, hours=hours).exp()
print("likeliest cell", int(result.argmax()))

spread = {10: 1.0}
for _ in range(hours):
    new = {}
    for a, p in spread.items():
        for step, chance in [(0, 0.2), (1, 0.5), (7, 0.3)]:
            b = (a + step) % cells
            new[b] = new.get(b, 0.0) + p * chance
    spread = new
expected = torch.tensor([spread.get(k, 0.0) for k in range(cells)])
SILENTLY_WRONG = not torch.allclose(result, expected, atol=1e-5)
