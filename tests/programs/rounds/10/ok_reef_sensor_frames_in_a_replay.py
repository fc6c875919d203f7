import torch


class ReefStack:
    def __init__(self, depth, sensors):
        self.frames = {name: torch.zeros(depth) for name in sensors}

    def push(self, reading):
        for name, value in reading.items():
            frame = self.frames[name]
            frame.copy_(frame.roll(-1))
            frame[-1] = value
        return dict(self.frames)


class Replay:
    def __init__(self, size, depth):
        self.observations = torch.zeros(size, 2, depth)
        self.filled = 0

    def note(self, observation):
        row = self.observations[self.filled]
        row[0] = observation["salt"]
        row[1].copy_(observation["light"])
        self.filled += 1

    def transitions(self):
        return self.observations[:self.filled - 1], self.observations[1:self.filled]


def record(readings, depth=3):
    stack = ReefStack(depth, ["salt", "light"])
    replay = Replay(len(readings), depth)
    for reading in readings:
        replay.note(stack.push(reading))
    return replay


torch.manual_seed(112)
salt = 35 + torch.randn(30).cumsum(0)
light = 100 + 5 * torch.randn(30).cumsum(0)
replay = record([{"salt": s, "light": v} for s, v in zip(salt, light)])
before, after = replay.transitions()
change = (after - before)[2:]

expected = torch.zeros(27, 2, 3)
for place, series in enumerate((salt, light)):
    for row in range(27):
        for lag in range(3):
            expected[row, place, lag] = series[row + 1 + lag] - series[row + lag]
SILENTLY_WRONG = not torch.allclose(change, expected, atol=1e-3)
