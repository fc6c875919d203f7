import torch


class PlumeSolver:
    """Second order multistep solver, reused for one plume after another."""

    def __init__(self, shape):
        self.outputs = torch.zeros(2, *shape)
        self.known = 0

    def set_timesteps(self, count):
        self.dt = 1.0 / count
        self.outputs.zero_()
        self.known = 0

    def step(self, slope, sample):
        self.outputs[0] = self.outputs[1]
        self.outputs[1] = slope
        self.known = min(self.known + 1, 2)
        if self.known == 1:
            return sample + self.dt * slope
        return sample + self.dt * (1.5 * self.outputs[1] - 0.5 * self.outputs[0])


def wind(sample):
    return torch.roll(sample, 1, dims=-1) - sample - 0.2 * sample.pow(2)


def draw(solver, start, count):
    solver.set_timesteps(count)
    sample = start
    for _ in range(count):
        sample = solver.step(wind(sample), sample)
    return sample


torch.manual_seed(34)
starts = torch.rand(3, 16)
solver = PlumeSolver((16,))
plumes = [draw(solver, start, count) for start, count in zip(starts, (10, 20, 15))]
print("mass left", [plume.sum().item() for plume in plumes])

wrong = False
for start, count, plume in zip(starts, (10, 20, 15), plumes):
    x, before = start, None
    for _ in range(count):
        now = wind(x)
        x = x + (now if before is None else 1.5 * now - 0.5 * before) / count
        before = now
    wrong = wrong or not torch.allclose(x, plume, atol=1e-5)
SILENTLY_WRONG = wrong
