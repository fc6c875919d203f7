import math
import torch


class Treatment:
    """Adds up beams in one tensor that the viewer holds under its own name."""

    def __init__(self, depths):
        self.depths = depths
        self.open = (1 - torch.exp(-1.1 * depths)) * torch.exp(-0.04 * depths)
        self.sum = torch.zeros_like(depths)

    def viewer(self):
        return torch.Tensor(self.sum)

    def beam(self, tilt=0.0, wedge=0.0, opposed=False):
        dose = self.open.clone()
        dose *= math.cos(math.radians(tilt))
        dose *= torch.exp(-wedge * self.depths)
        self.sum += dose.flip(0) if opposed else dose
        return self


def treat(treatment, beams):
    """Gives the beams one by one and notes what the viewer shows after each."""
    shown, screen = [], treatment.viewer()
    for beam in beams:
        treatment.beam(**beam)
        shown.append((screen.max().item(), treatment.depths[screen.argmax()].item()))
    return shown, screen


depths = torch.arange(0.0, 15.0, 0.5)
beams = [{"tilt": 10.0}, {"opposed": True}, {"tilt": 40.0, "wedge": 0.03}]
shown, screen = treat(Treatment(depths), beams)

shape = (1 - torch.exp(-1.1 * depths)) * torch.exp(-0.04 * depths)
parts = torch.stack([shape * math.cos(math.pi / 18), shape.flip(0),
                     shape * math.cos(2 * math.pi / 9) * torch.exp(-0.03 * depths)])
sums = parts.cumsum(dim=0)
expected = torch.stack([sums.amax(1), depths[sums.argmax(1)]], dim=1)
same = torch.allclose(torch.tensor(shown), expected, atol=1e-4) and torch.allclose(screen, sums[-1], atol=1e-4)
SILENTLY_WRONG = not same
