import torch


class Recent:
    """The last readings of each drone, oldest first."""

    def __init__(self, drones, length):
        self.frames = torch.zeros(drones, length)

    def append(self, reading):
        self.frames = torch.cat([self.frames[:, 1:], reading[:, None]], dim=1)

    def refill(self, rows, reading):
        self.frames[rows] = reading[rows, None]


class Fleet:
    def __init__(self, height, length):
        self.height = height.clone()
        self.recent = Recent(len(height), length)
        self.recent.refill(torch.arange(len(height)), self.height)

    def reset(self, rows):
        self.height[rows] = 0.0
        self.recent.append(self.height)
        self.recent.refill(rows, self.height)

    def step(self, climb):
        self.height += climb
        self.recent.append(self.height)

    def climb_rate(self):
        frames = self.recent.frames
        return (frames[:, -1] - frames[:, 0]) / (frames.shape[1] - 1)


torch.manual_seed(21)
start = 10 * torch.rand(5)
climbs = 0.5 + torch.rand(30, 5)
fleet = Fleet(start, length=6)
rates = []
for t, climb in enumerate(climbs):
    fleet.step(climb)
    landed = (fleet.height > 16).nonzero().squeeze(1)
    if len(landed):
        fleet.reset(landed)
    rates.append(fleet.climb_rate())
rates = torch.stack(rates)
print("climb rates at the end", rates[-1].tolist())

expected = torch.zeros(30, 5)
for d in range(5):
    h, past = float(start[d]), [float(start[d])] * 6
    for t in range(30):
        h += float(climbs[t, d])
        past.append(h)
        if h > 16:
            h, past = 0.0, [0.0] * 6
        expected[t, d] = (past[-1] - past[-6]) / 5
SILENTLY_WRONG = not torch.allclose(rates, expected, atol=1e-3)
