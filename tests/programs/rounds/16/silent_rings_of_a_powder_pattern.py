import torch


class RingIntegrator:
    def __init__(self, shape, centre, distance, rings):
        y, x = torch.meshgrid(torch.arange(shape[0]), torch.arange(shape[1]), indexing="ij")
        radius = ((y - centre[0]).double() ** 2 + (x - centre[1]).double() ** 2).sqrt()
        self.ring = (radius / radius.max() * rings).long().clamp(max=rings - 1).flatten()
        self.solid_angle = (distance / (distance ** 2 + radius ** 2).sqrt()).pow(3).flatten()
        self.rings = rings

    def sums(self, values):
        return torch.zeros(self.rings, dtype=torch.float64).index_add_(0, self.ring, values)

    def integrate(self, frame, exposure, polarisation=None):
        weight = self.solid_angle
        if polarisation is not None:
            weight *= polarisation.flatten()
        weight *= exposure
        return self.sums(frame.flatten()) / self.sums(weight)


def pattern(integrator, frames, exposures):
    curves = [integrator.integrate(f, e) for f, e in zip(frames, exposures)]
    return torch.stack(curves).mean(dim=0)


torch.manual_seed(2)
frames = torch.rand(5, 12, 14, dtype=torch.float64) * 100
exposures = [0.5, 1.0, 2.0, 1.5, 0.8]
integrator = RingIntegrator((12, 14), (5.5, 6.5), distance=20.0, rings=6)
measured = pattern(integrator, frames, exposures)

largest = max(((i - 5.5) ** 2 + (j - 6.5) ** 2) ** 0.5 for i in range(12) for j in range(14))
expected = [0.0] * 6
for frame, exposure in zip(frames.tolist(), exposures):
    above, below = [0.0] * 6, [0.0] * 6
    for i in range(12):
        for j in range(14):
            r = ((i - 5.5) ** 2 + (j - 6.5) ** 2) ** 0.5
            k = min(int(r / largest * 6), 5)
            above[k] += frame[i][j]
            below[k] += exposure * (20.0 / (400.0 + r * r) ** 0.5) ** 3
    expected = [e + a / b / 5 for e, a, b in zip(expected, above, below)]
SILENTLY_WRONG = not torch.allclose(measured, torch.tensor(expected, dtype=torch.float64), rtol=1e-6)
