import math

import torch


def spot_light(phase, spots):
    """Light that a plate of this phase sends to the given spots of the image."""
    field = torch.polar(torch.ones_like(phase), phase)
    image = torch.fft.fft2(field, norm="ortho").abs().square()
    return torch.stack([image[spot] for spot in spots])


class PlateDesigner:
    def __init__(self, size, spots, pace):
        torch.manual_seed(19)
        self.spots, self.pace = spots, pace
        self._phase = torch.rand(size, size, dtype=torch.float64).requires_grad_()

    def _step(self):
        light = spot_light(self._phase, self.spots)
        loss = light.log().sum()
        loss.backward()
        slope = self._phase.grad
        with torch.no_grad():
            self._phase.add_(self.pace * slope.sign()).clamp_(-math.pi, math.pi)
        return loss.item()

    def design(self, rounds):
        course = [self._step() for _ in range(rounds)]
        return self._phase.detach(), course


spots = [(2, 3), (5, 9), (11, 4)]
designer = PlateDesigner(16, spots, pace=0.1)
phase, course = designer.design(rounds=25)
light = spot_light(phase, spots)
print("light at the spots", light.tolist())

torch.manual_seed(19)
plate = torch.rand(16, 16, dtype=torch.float64)
for _ in range(25):
    plate.requires_grad_()
    slope, = torch.autograd.grad(spot_light(plate, spots).log().sum(), plate)
    plate = (plate.detach() + 0.1 * slope.sign()).clamp(-math.pi, math.pi)
SILENTLY_WRONG = not torch.allclose(light, spot_light(plate, spots), rtol=1e-3)
