import torch


class RingIntegrator:
    def __init__(self, shape, centre, distance, rings):
        y, x = torch.meshgrid(torch.arange(shape[0]), torch.arange(shape[1]), indexing="ij")
        radius = ((y - centre[0]).double() ** 2 + (x - centre[1]).double() ** 2).sqrt()
        self.ring = (radius / radius.max() * rings).long().clamp(max=rings - 1).flatten()
        self.solid_angle = (distance / (distance ** 2 + radius ** 2).sqrt()).pow(3).flatten()
        self.above = torch.zeros(rings, dtype=torch.float64)
        self.below = torch.zeros(rings, dtype=torch.float64)

    def add(self, frame, exposure, dark):
        counts = frame.flatten() - dark
        counts.clamp_(min=0)
        weight = self.solid_angle * 1.0
        weight *= exposure
        self.above.index_add_(0, self.ring, counts)
        self.below.index_add_(0, self.ring, weight)

    def curve(self):
        return self.above / self.below


def pattern(integrator, frames, exposures, dark):
    for frame, exposure in zip(frames, exposures):
        integrator.add(frame, exposure, dark)
    return integrator.curve()


torch.manual_seed(2)
frames = torch.rand(5, 12, 14, dtype=torch.float64) * 100
exposures = [0.5, 1.0, 2.0, 1.5, 0.8]
measured = pattern(RingIntegrator((12, 14), (5.5, 6.5), 20.0, 6), frames, exposures, dark=8.0)

largest = max(((i - 5.5) ** 2 + (j - 6.5) ** 2) ** 0.5 for i in range(12) for j in range(14))
above, below = [0.0] * 6, [0.0] * 6
for frame, exposure in zip(frames.tolist(), exposures):
    for i in range(12):
        for j in range(14):
            r = ((i - 5.5) ** 2 + (j - 6.5) ** 2) ** 0.5
            k = min(int(r / largest * 6), 5)
            above[k] += max(frame[i][j] - 8.0, 0.0)
            below[k] += exposure * (20.0 / (400.0 + r * r) ** 0.5) ** 3
expected = torch.tensor([a / b for a, b in zip(above, below)], dtype=torch.float64)
SILENTLY_WRONG = not torch.allclose(measured, expected, rtol=1e-6)
