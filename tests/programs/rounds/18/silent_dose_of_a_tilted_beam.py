import math
import torch


class Beam:
    """Dose of an open beam along the depth of water, in centimetre steps."""

    def __init__(self, depths, weakening=0.05):
        build = 1 - torch.exp(-1.2 * depths)
        self.depths = depths
        self.open = torch.Tensor(build * torch.exp(-weakening * depths))

    def plan(self, tilt=0.0, wedge=0.0, bolus=0):
        dose = torch.Tensor(self.open)
        dose *= math.cos(math.radians(tilt))
        if wedge:
            dose *= torch.exp(-wedge * self.depths)
        if bolus:
            dose[:-bolus] = self.open[bolus:] * math.cos(math.radians(tilt))
        return dose / self.open.max()


def fields(beam, setups):
    """Adds up the fields of a treatment and reports the depth of its maximum."""
    total = torch.zeros_like(beam.depths)
    for setup in setups:
        total += beam.plan(**setup)
    return total, beam.depths[total.argmax()]


depths = torch.arange(0.0, 20.0, 0.5)
beam = Beam(depths)
setups = [{"tilt": 0.0}, {"tilt": 30.0, "wedge": 0.02}, {"tilt": 45.0}, {"wedge": 0.04}]
total, deepest = fields(beam, setups)

shape = (1 - torch.exp(-1.2 * depths)) * torch.exp(-0.05 * depths)
expected = torch.zeros(40)
for angle, wedge in ((0, 0), (30, 0.02), (45, 0), (0, 0.04)):
    field = shape * math.cos(angle * math.pi / 180) * torch.exp(-wedge * depths)
    expected = expected + field / shape.max()
SILENTLY_WRONG = not torch.allclose(total, expected, atol=1e-4)
