import torch


class Chart:
    """Adds up what boats sound in rectangular blocks of a marsh."""

    def __init__(self, rows, columns):
        self.sums = torch.zeros(rows, columns)
        self.hits = torch.zeros(rows, columns)

    def block(self, corner, size):
        (row, column), (high, wide) = corner, size
        return slice(row, row + high), slice(column, column + wide)

    def sound(self, corner, size, readings):
        """Readings come in one row after the other, as a flat list."""
        where = self.block(corner, size)
        block = self.sums[where]
        block.resize_(len(readings))
        block += readings
        self.hits[where] += 1

    def depths(self):
        return torch.where(self.hits > 0, self.sums / self.hits.clamp(min=1), torch.nan)


def survey(chart, trips, deepest):
    for corner, size, readings in trips:
        chart.sound(corner, size, readings.clamp(max=deepest))
    depths = chart.depths()
    known = ~depths.isnan()
    return depths.nan_to_num(), known


torch.manual_seed(202)
sizes = [(3, 4), (2, 5), (4, 4), (3, 3), (2, 6)]
corners = [(0, 0), (1, 2), (3, 5), (5, 1), (2, 4)]
trips = [(corner, size, 4 * torch.rand(size[0] * size[1])) for corner, size in zip(corners, sizes)]
depths, known = survey(Chart(rows=10, columns=12), trips, deepest=3.5)

found = {}
for (row, column), (high, wide), readings in trips:
    for k, reading in enumerate(readings.tolist()):
        found.setdefault((row + k // wide, column + k % wide), []).append(min(reading, 3.5))
expected = torch.zeros(10, 12)
for cell, values in found.items():
    expected[cell] = sum(values) / len(values)
SILENTLY_WRONG = not torch.allclose(depths, expected, atol=1e-5) or int(known.sum()) != len(found)
