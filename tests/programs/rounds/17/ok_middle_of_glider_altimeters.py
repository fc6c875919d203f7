import numpy as np
import torch
from torch.distributions.transforms import AffineTransform


class RobustHeight:
    """Centre and spread under Student-t noise, by reweighting."""

    def __init__(self, freedom=3.0):
        self.freedom = freedom
        self.centre = torch.zeros((), dtype=torch.float64)
        self.spread = torch.ones((), dtype=torch.float64)
        self.surprise = []

    def start(self, heights):
        self.centre.copy_(heights.mean())
        self.spread.copy_(heights.std())

    def weights(self, heights):
        whiten = AffineTransform(self.centre, self.spread, cache_size=1).inv
        z = whiten(heights)
        self.surprise.append((z ** 2).mean() + whiten.log_abs_det_jacobian(heights, z).mean())
        return (self.freedom + 1) / (self.freedom + z ** 2)

    def fit(self, heights, rounds):
        self.start(heights)
        for _ in range(rounds):
            w = self.weights(heights)
            self.centre.copy_((w * heights).sum() / w.sum())
            self.spread.copy_((w * (heights - self.centre) ** 2).mean().sqrt())
        return self.centre.item(), self.spread.item()


torch.manual_seed(61)
heights = 820 + 5 * torch.randn(33, dtype=torch.float64)
heights[:4] += torch.tensor([200.0, -90.0, 60.0, 310.0], dtype=torch.float64)
height = RobustHeight()
centre, spread = height.fit(heights, rounds=30)

x = np.array(heights.tolist())
m, s, surprise = x.mean(), x.std(ddof=1), []
for _ in range(30):
    z = (x - m) / s
    surprise.append((z ** 2).mean() - np.log(s))
    w = 4 / (3 + z ** 2)
    m = (w * x).sum() / w.sum()
    s = np.sqrt((w * (x - m) ** 2).mean())
same = np.allclose([centre, spread], [m, s]) and np.allclose(torch.stack(height.surprise).numpy(), surprise)
SILENTLY_WRONG = not same
