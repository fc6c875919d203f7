import numpy as np
import torch
from torch.distributions.transforms import AffineTransform


class RobustLevel:
    """Centre and spread under Student-t noise, by reweighting."""

    def __init__(self, freedom=4.0):
        self.freedom = freedom
        self.centre = torch.zeros((), dtype=torch.float64)
        self.spread = torch.ones((), dtype=torch.float64)
        self.whiten = AffineTransform(self.centre, self.spread, cache_size=1).inv

    def start(self, readings):
        self.centre.copy_(readings.median())
        self.spread.copy_((readings - self.centre).abs().median())

    def weights(self, readings):
        z = self.whiten(readings)
        return (self.freedom + 1) / (self.freedom + z ** 2)

    def fit(self, readings, rounds):
        self.start(readings)
        for _ in range(rounds):
            w = self.weights(readings)
            self.centre.copy_((w * readings).sum() / w.sum())
            self.spread.copy_((w * (readings - self.centre) ** 2).mean().sqrt())
        return self.centre.item(), self.spread.item()


torch.manual_seed(31)
readings = 1013 + 2 * torch.randn(41, dtype=torch.float64)
readings[:6] += torch.tensor([40.0, 55.0, -30.0, 70.0, 25.0, 90.0], dtype=torch.float64)
level = RobustLevel()
centre, spread = level.fit(readings, rounds=40)

x = readings.numpy().copy()
m = np.median(x)
s = np.median(np.abs(x - m))
for _ in range(40):
    w = 5 / (4 + ((x - m) / s) ** 2)
    m = (w * x).sum() / w.sum()
    s = np.sqrt((w * (x - m) ** 2).mean())
SILENTLY_WRONG = not np.allclose([centre, spread], [m, s])
