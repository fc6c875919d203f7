from dataclasses import dataclass

import torch


@dataclass
class Recording:
    frames: torch.Tensor
    reference: torch.Tensor


def correlation(a, b):
    a, b = a - a.mean(), b - b.mean()
    return (a * b).sum() / (a.norm() * b.norm())


def find_offset(frame, widest=5):
    even, odd = frame[0::2], frame[1::2]
    scores = {}
    for offset in range(1, widest + 1):
        scores[offset] = correlation(even[:, offset:], odd[:, :-offset]).item()
    return max(scores, key=scores.get)


def straighten(frames, offset):
    """Move every second line to the right, as the mirror comes back late."""
    frames[:, 1::2, offset:] = frames[:, 1::2, :-offset]
    return frames


class Registration:
    def __init__(self, recording):
        self.recording = recording
        self.offset = find_offset(recording.frames.mean(dim=0))

    def run(self):
        frames = straighten(self.recording.frames, self.offset)
        return torch.stack([correlation(f, self.recording.reference) for f in frames])


def scan(rows, columns, count, late):
    scene = torch.rand(rows // 2, columns + late, dtype=torch.float64).repeat_interleave(2, dim=0)
    frames = torch.empty(count, rows, columns, dtype=torch.float64)
    for frame in frames:
        frame[0::2] = scene[0::2, :columns]
        frame[1::2] = scene[1::2, late:]
        frame.add_(0.05 * torch.randn(rows, columns, dtype=torch.float64))
    return Recording(frames, scene[:, :columns])


torch.manual_seed(1901)
recording = scan(rows=16, columns=40, count=6, late=3)
lines = recording.frames.tolist()
registration = Registration(recording)
similar = registration.run()

expected = []
for frame in lines:
    moved = [row if i % 2 == 0 else row[:3] + row[:-3] for i, row in enumerate(frame)]
    expected.append(correlation(torch.tensor(moved, dtype=torch.float64), recording.reference))
assert registration.offset == 3
SILENTLY_WRONG = not torch.allclose(similar, torch.stack(expected), atol=1e-9)
