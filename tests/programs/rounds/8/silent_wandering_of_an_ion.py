import numpy as np
import torch


class Trajectory:
    def __init__(self, frames):
        self.frames = frames
        self.positions = np.empty_like(frames[0])

    def __len__(self):
        return len(self.frames)

    def __iter__(self):
        for number, frame in enumerate(self.frames):
            np.copyto(self.positions, frame)
            yield number


class Atom:
    def __init__(self, trajectory, index):
        self.trajectory, self.index = trajectory, index

    @property
    def position(self):
        return torch.from_dlpack(self.trajectory.positions)[self.index]


def squared_displacement(path, lag):
    return (path[lag:] - path[:-lag]).pow(2).sum(dim=1).mean()


rng = np.random.default_rng(804)
frames = np.cumsum(rng.normal(scale=0.2, size=(50, 12, 3)), axis=0)
trajectory = Trajectory(list(frames))
ion = Atom(trajectory, 7)

path = torch.stack([ion.position for _ in trajectory])
curve = torch.stack([squared_displacement(path, lag) for lag in (1, 2, 5, 10)])

expected = [((frames[lag:, 7] - frames[:-lag, 7]) ** 2).sum(axis=1).mean() for lag in (1, 2, 5, 10)]
SILENTLY_WRONG = not np.allclose(curve.numpy(), expected, atol=1e-8)
