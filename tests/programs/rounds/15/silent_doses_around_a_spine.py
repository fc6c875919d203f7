import torch


class Plan:
    def __init__(self, shape):
        self.dose = torch.zeros(shape)
        self.organs, self.limits = {}, {}

    def organ(self, name, centre, radius, limit):
        axes = [torch.arange(n) - c for n, c in zip(self.dose.shape, centre)]
        rows, columns = torch.meshgrid(*axes, indexing="ij")
        self.organs[name] = rows ** 2 + columns ** 2 <= radius ** 2
        self.limits[name] = limit

    def beam(self, row, strength):
        away = (torch.arange(len(self.dose)) - row).abs()
        self.dose += strength * torch.exp(-0.3 * away)[:, None]

    def protect(self):
        for name, organ in self.organs.items():
            limit = self.limits[name]
            self.dose[organ][self.dose[organ] > limit] = limit

    def report(self):
        return {name: self.dose[organ].mean() for name, organ in self.organs.items()}


def treat(beams):
    plan = Plan((12, 12))
    plan.organ("spine", (4, 6), 2, limit=1.5)
    plan.organ("lung", (8, 3), 3, limit=2.0)
    for row, strength in beams:
        plan.beam(row, strength)
        plan.protect()
    return plan.report()


beams = [(3, 1.2), (5, 0.9), (9, 1.6), (7, 0.5)]
report = treat(beams)

shapes = {"spine": (4, 6, 2, 1.5), "lung": (8, 3, 3, 2.0)}
grid = {(i, j): 0.0 for i in range(12) for j in range(12)}
inside = {n: [p for p in grid if (p[0] - r) ** 2 + (p[1] - c) ** 2 <= s * s] for n, (r, c, s, _) in shapes.items()}
for row, strength in beams:
    for p in grid:
        grid[p] += strength * 2.718281828 ** (-0.3 * abs(p[0] - row))
    for name, places in inside.items():
        for p in places:
            grid[p] = min(grid[p], shapes[name][3])
expected = torch.tensor([sum(grid[p] for p in inside[n]) / len(inside[n]) for n in shapes])
SILENTLY_WRONG = not torch.allclose(torch.stack(list(report.values())), expected, atol=1e-4)
