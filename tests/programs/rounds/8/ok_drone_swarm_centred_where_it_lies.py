import numpy as np
import torch


class Flight:
    def __init__(self, places):
        self.places = np.array(places, dtype=np.float64)

    def __len__(self):
        return len(self.places)

    def frame(self, i):
        return torch.from_numpy(self.places)[i]

    def centre(self):
        for i in range(len(self)):
            frame = self.frame(i)
            frame.sub_(frame.mean(dim=0))
        return self


def spread(flight):
    return torch.stack([flight.frame(i).pow(2).sum(dim=1).mean().sqrt() for i in range(len(flight))])


rng = np.random.default_rng(854)
measured = rng.normal(size=(20, 9, 3)).cumsum(axis=0) + 50.0
original = measured.copy()
size = spread(Flight(measured).centre())

expected = []
for frame in torch.from_numpy(measured):
    gap = frame[:, None] - frame[None]
    expected.append((gap.pow(2).sum(dim=2).mean() / 2).sqrt())
SILENTLY_WRONG = not (torch.allclose(size, torch.stack(expected), atol=1e-8) and np.array_equal(measured, original))
