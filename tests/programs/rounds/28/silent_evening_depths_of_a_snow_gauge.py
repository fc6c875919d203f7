import numpy as np
import torch


def read_gauges(count, seed):
    return 40 + 15 * torch.rand(count, generator=torch.Generator().manual_seed(seed))


class SnowField:
    def __init__(self, depth):
        self.depth = depth

    def log(self):
        """The depths as they go into the book, in numpy like the rest of the book."""
        return self.depth.numpy()

    def night(self, fresh, settled):
        self.depth += fresh
        self.depth *= 1 - settled


field = SnowField(read_gauges(6, seed=31))
evening = field.log()
fresh = torch.tensor([12.0, 9.5, 14.0, 3.0, 0.0, 7.5])
field.night(fresh, settled=0.08)
morning = field.log()
growth = morning - evening
print("growth over night", np.round(growth, 1).tolist())
print("gauges to look at", np.flatnonzero(growth > 5).tolist())

before = read_gauges(6, seed=31)
expected = (before + fresh) * 0.92 - before
SILENTLY_WRONG = not torch.allclose(torch.tensor(growth), expected, atol=1e-4)
