import torch


class Posts:
    """Meter readings of the posts, a column each, turned into hourly use where they lie."""

    def __init__(self, readings):
        self.readings = readings

    def to_use(self):
        for hour in range(len(self.readings) - 1, 0, -1):
            self.readings[hour].sub_(self.readings[hour - 1])
        self.readings[0].zero_()
        return self.readings

    def to_readings(self, start):
        self.readings[0].copy_(start)
        for hour in range(1, len(self.readings)):
            self.readings[hour].add_(self.readings[hour - 1])
        return self.readings


torch.manual_seed(36)
load = 11 * torch.rand(48, 5, dtype=torch.float64) * (torch.rand(48, 5) > 0.6)
start = 500 * torch.rand(5, dtype=torch.float64)
readings = start + load.cumsum(dim=0)
first, last = readings[0].clone(), readings[-1].clone()
posts = Posts(readings)
use = posts.to_use().clone()
again = posts.to_readings(first).clone()
print("use per post", use.sum(dim=0).tolist())

load[0] = 0
SILENTLY_WRONG = not (torch.allclose(use, load, atol=1e-8) and torch.allclose(again[-1], last, atol=1e-8))
