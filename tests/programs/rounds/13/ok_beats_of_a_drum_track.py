import collections
import io

import numpy as np
import torch


class Track:
    def __init__(self, stream, size):
        self.stream = stream
        self.space = bytearray(4 * size)
        self.block = torch.frombuffer(self.space, dtype=torch.float32)

    def __iter__(self):
        while self.stream.readinto(self.space) == len(self.space):
            yield self.block


class Level:
    def __init__(self, blocks, tail):
        self.powers = collections.deque(maxlen=blocks)
        self.tail = torch.zeros(tail)

    def push(self, block):
        joined = torch.cat([self.tail, block])
        self.powers.append(torch.diff(joined, n=1).square_().sum())
        self.tail.copy_(block[-len(self.tail):])
        return torch.stack(list(self.powers)).mean()


def loudness(stream, size, blocks):
    level = Level(blocks, 1)
    return torch.stack([level.push(block) for block in Track(stream, size)])


rng = np.random.default_rng(247)
signal = (np.sin(np.arange(200) / 9) + rng.normal(size=200) * 0.1 + np.arange(200) / 50).astype(np.float32)
found = loudness(io.BytesIO(signal.tobytes()), 20, 3)

steps = np.square(np.diff(signal, prepend=np.float32(0)))
powers = [steps[end - 20:end].sum() for end in range(20, 201, 20)]
expected = [float(np.mean(powers[max(0, k - 2):k + 1])) for k in range(len(powers))]
SILENTLY_WRONG = not torch.allclose(found, torch.tensor(expected), atol=1e-4)
