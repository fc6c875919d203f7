import torch


class CircularBuffer:
    """The last readings of each kite in a ring; one row can start afresh on its own."""

    def __init__(self, kites, length, width):
        self.ring = torch.zeros(kites, length, width, dtype=torch.float64)
        self.length, self.at = length, 0

    def append(self, reading):
        self.ring[:, self.at] = reading
        self.at = (self.at + 1) % self.length

    def backfill(self, ids, reading):
        self.ring[ids] = reading[:, None]

    def ordered(self):
        return torch.roll(self.ring, -self.at, dims=1)


class Kites:
    def __init__(self, kites, length):
        self.place = torch.zeros(kites, 2, dtype=torch.float64)
        self.history = CircularBuffer(kites, length, 2)

    def step(self, wind):
        self.place += wind
        self.history.append(self.place)
        lost = (self.place.norm(dim=1) > 2.0).nonzero()[:, 0]
        if len(lost) > 0:
            self.place[lost] = 0.0
            self.history.backfill(lost, self.place[lost])
        return self.history.ordered().flatten(1)


torch.manual_seed(40)
wind = torch.randn(25, 5, 2, dtype=torch.float64)
kites = Kites(kites=5, length=4)
seen = torch.stack([kites.step(gust) for gust in wind])
print("readings of the first kite", seen[-1, 0].tolist())

expected = torch.zeros_like(seen)
for k in range(5):
    x = y = 0.0
    frames = [(0.0, 0.0)] * 4
    for t, (dx, dy) in enumerate(wind[:, k].tolist()):
        x, y = x + dx, y + dy
        frames = frames[1:] + [(x, y)]
        if (x * x + y * y) ** 0.5 > 2.0:
            x = y = 0.0
            frames = [(0.0, 0.0)] * 4
        expected[t, k] = torch.tensor(frames, dtype=torch.float64).flatten()
SILENTLY_WRONG = not torch.allclose(seen, expected, atol=1e-9)
