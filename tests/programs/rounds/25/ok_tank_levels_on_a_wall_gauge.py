import numpy as np
import torch


class WallGauge:
    """Shows the tanks of a fire station; it looks into the memory of the levels at each call."""

    def __init__(self, levels):
        self.needles = levels.numpy()

    def show(self):
        return float(self.needles.min()), float(self.needles.mean())


class Station:
    def __init__(self, levels):
        self.levels = levels
        self.gauge = WallGauge(levels)
        self.log = []

    def note(self):
        self.log.append(self.gauge.needles.copy())

    def fill(self, litres):
        self.levels += litres
        self.levels.clamp_(max=900.0)

    def call_out(self, tank, litres):
        self.levels[tank] -= litres
        self.levels.clamp_(min=0.0)


torch.manual_seed(11)
begin = 300.0 + 200.0 * torch.rand(6)
known = begin.tolist()
station = Station(begin)
shown, expected = [], []
for hour in range(12):
    station.note()
    tank = hour % 6
    station.call_out(tank, 120.0)
    station.fill(35.0)
    shown.append(station.gauge.show())
    known[tank] -= 120.0
    known = [min(max(k, 0.0) + 35.0, 900.0) for k in known]
    expected.append((min(known), sum(known) / 6))
used = np.diff(np.stack(station.log), axis=0)
print("lowest", round(shown[-1][0], 1), "mean", round(shown[-1][1], 1), "largest drop", round(float(-used.min()), 1))
SILENTLY_WRONG = not np.allclose(shown, expected, atol=1e-2) or abs(float(used.min()) + 85.0) > 1e-2
