import torch


class SeatMap:
    def __init__(self, rows, columns):
        self.clicks = torch.zeros(rows, columns, dtype=torch.float64)
        self.latest = torch.full((rows, columns), -1.0, dtype=torch.float64)

    def add(self, seats, weights, minute):
        unique, where = torch.unique(seats, dim=0, return_inverse=True)
        sums = torch.zeros(len(unique), dtype=torch.float64)
        sums.index_add_(0, where, weights)
        self.clicks[unique[:, 0], unique[:, 1]] += sums
        self.latest[seats[:, 0], seats[:, 1]] = minute

    def wanted(self, since):
        shown = self.clicks.clone()
        shown[self.latest < since] = 0.0
        return shown


def follow(plan, visits, since):
    for minute, (seats, weights) in enumerate(visits):
        plan.add(seats, weights, float(minute))
    return plan.wanted(since)


torch.manual_seed(31)
visits = [(torch.randint(0, 5, (30, 2)), torch.rand(30, dtype=torch.float64)) for _ in range(4)]
plan = SeatMap(5, 5)
wanted = follow(plan, visits, since=3.0)

table = [[0.0] * 5 for _ in range(5)]
for seats, weights in visits:
    for (row, column), w in zip(seats.tolist(), weights.tolist()):
        table[row][column] += w
last = {tuple(seat) for seat in visits[3][0].tolist()}
shown = [[v if (i, j) in last else 0.0 for j, v in enumerate(row)] for i, row in enumerate(table)]
all_clicks = torch.allclose(plan.clicks, torch.tensor(table, dtype=torch.float64))
SILENTLY_WRONG = not (all_clicks and torch.allclose(wanted, torch.tensor(shown, dtype=torch.float64)))
