import torch


class RunningMoments:
    def __init__(self, width):
        self.count = 0
        self.mean = torch.zeros(width, dtype=torch.float64)
        self.spread = torch.zeros(width, dtype=torch.float64)

    def update(self, row):
        self.count += 1
        difference = row - self.mean
        self.mean += difference / self.count
        self.spread.addcmul_(difference, row - self.mean)

    def merge(self, other):
        total = self.count + other.count
        difference = other.mean - self.mean
        self.spread.add_(other.spread).add_(difference ** 2, alpha=self.count * other.count / total)
        self.mean.lerp_(other.mean, other.count / total)
        self.count = total
        return self

    def variance(self):
        return self.spread / (self.count - 1)


torch.manual_seed(36)
stream = torch.randn(120, 4, dtype=torch.float64) * torch.tensor([1.0, 5.0, 0.1, 2.0]) + 40
first, second = RunningMoments(4), RunningMoments(4)
for row in stream[:70]:
    first.update(row)
for row in stream[70:]:
    second.update(row)
tail = second.variance()
first.merge(second)

SILENTLY_WRONG = not (torch.allclose(first.mean, stream.mean(dim=0), atol=1e-9)
                      and torch.allclose(first.variance(), stream.var(dim=0), atol=1e-9)
                      and torch.allclose(tail, stream[70:].var(dim=0), atol=1e-9)
                      and torch.equal(second.variance(), tail))
