from collections import deque
from dataclasses import dataclass, field

import torch


@dataclass
class DelayLine:
    """Shifts every second row of a stage scan and keeps the newest frames on top."""

    rows: int
    columns: int
    depth: int
    stack: torch.Tensor = field(init=False)

    def __post_init__(self):
        self.stack = torch.zeros(self.depth, self.rows, self.columns, dtype=torch.float64)

    def push(self, frame):
        self.stack[1:] = self.stack[:-1].clone()
        self.stack[0] = frame

    def mean(self):
        return self.stack.mean(dim=0)


def straighten(frame, offset):
    frame[1::2, offset:] = frame[1::2, :-offset].clone()
    return frame


def stage(count, rows, columns):
    for _ in range(count):
        yield torch.rand(rows, columns, dtype=torch.float64)


def run(frames, offset, depth):
    line, means = None, []
    for frame in frames:
        if line is None:
            line = DelayLine(*frame.shape, depth)
        line.push(straighten(frame.clone(), offset))
        means.append(line.mean())
    return torch.stack(means)


torch.manual_seed(2901)
frames = list(stage(7, 6, 12))
means = run(frames, offset=2, depth=3)

recent, expected = deque([torch.zeros(6, 12, dtype=torch.float64)] * 3, maxlen=3), []
for frame in frames:
    rows = [r if i % 2 == 0 else r[:2] + r[:-2] for i, r in enumerate(frame.tolist())]
    recent.append(torch.tensor(rows, dtype=torch.float64))
    expected.append(sum(recent) / 3)
SILENTLY_WRONG = not torch.allclose(means, torch.stack(expected))
