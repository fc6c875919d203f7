from functools import wraps

import torch


def remembered(function):
    kept = {}

    @wraps(function)
    def call(cells):
        version = cells._version
        if kept.get("cells") is not cells or kept["version"] != version:
            kept.update(cells=cells, version=version, value=function(cells))
        return kept["value"]

    return call


@remembered
def squared_length(cells):
    return cells.square().sum(dim=1)


class PebbleMap:
    def __init__(self, cells, rate):
        self.cells, self.rate = cells, rate

    def winner(self, pebble):
        return int((squared_length(self.cells) - 2 * self.cells @ pebble).argmin())

    def learn(self, pebble):
        self.cells[self.winner(pebble)].lerp_(pebble, self.rate)


def train(pebbles, cells):
    chart = PebbleMap(cells, 0.25)
    for pebble in pebbles:
        chart.learn(pebble)
    groups = [chart.winner(pebble) for pebble in pebbles]
    return chart.cells, torch.tensor(groups)


torch.manual_seed(7)
pebbles, start = torch.rand(50, 4) * torch.tensor([3.0, 1.0, 1.0, 2.0]), torch.rand(5, 4)
cells, groups = train(pebbles, start.clone())

rows = list(start)
for pebble in pebbles:
    best = int(torch.stack([(row - pebble).norm() for row in rows]).argmin())
    rows[best] = 0.75 * rows[best] + 0.25 * pebble
expected = torch.cdist(pebbles, torch.stack(rows)).argmin(dim=1)
SILENTLY_WRONG = not (torch.allclose(cells, torch.stack(rows), atol=1e-5) and torch.equal(groups, expected))
