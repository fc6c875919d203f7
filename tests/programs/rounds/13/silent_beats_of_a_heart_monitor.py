import collections
import io

import numpy as np
import torch


class Monitor:
    def __init__(self, stream, size):
        self.stream = stream
        self.space = bytearray(4 * size)

    def __iter__(self):
        while self.stream.readinto(self.space) == len(self.space):
            yield torch.frombuffer(self.space, dtype=torch.float32)


class Smoother:
    def __init__(self, blocks):
        self.recent = collections.deque(maxlen=blocks)

    def push(self, block):
        self.recent.append(block)
        return torch.cat(list(self.recent)).mean()


def baseline(stream, size, blocks):
    smoother = Smoother(blocks)
    return torch.stack([smoother.push(block) for block in Monitor(stream, size)])


rng = np.random.default_rng(147)
signal = (np.sin(np.arange(200) / 9) + rng.normal(size=200) * 0.1 + np.arange(200) / 50).astype(np.float32)
found = baseline(io.BytesIO(signal.tobytes()), 20, 3)

expected = []
for end in range(20, 201, 20):
    expected.append(float(signal[max(0, end - 60):end].mean()))
SILENTLY_WRONG = not torch.allclose(found, torch.tensor(expected), atol=1e-4)
