import torch


class ClimateStack:
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
        self.before = torch.zeros(size, 2 * depth)
        self.after = torch.zeros(size, 2 * depth)
        self.filled = 0

    def store(self, observation, following):
        self.before[self.filled] = torch.cat([observation["warmth"], observation["damp"]])
        self.after[self.filled] = torch.cat([following["warmth"], following["damp"]])
        self.filled += 1


def record(readings, depth=4):
    stack = ClimateStack(depth, ["warmth", "damp"])
    replay = Replay(len(readings) - 1, depth)
    observation = stack.push(readings[0])
    for reading in readings[1:]:
        following = stack.push(reading)
        replay.store(observation, following)
        observation = following
    return replay


torch.manual_seed(12)
warmth = 20 + torch.randn(40).cumsum(0)
damp = 60 + torch.randn(40).cumsum(0)
readings = [{"warmth": w, "damp": d} for w, d in zip(warmth, damp)]
replay = record(readings)
change = (replay.after - replay.before)[:, [3, 7]].abs().mean(dim=0)

expected = torch.stack([warmth.diff().abs().mean(), damp.diff().abs().mean()])
SILENTLY_WRONG = not torch.allclose(change, expected, atol=1e-3)
