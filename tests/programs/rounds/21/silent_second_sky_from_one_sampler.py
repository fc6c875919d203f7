import torch


class TwoStepSampler:
    """Adams-Bashforth of second order over the noise levels; the first step is an Euler step."""

    def __init__(self):
        self.slopes = [None, None]
        self.levels = None

    def set_levels(self, high, count):
        self.levels = torch.linspace(high, 0.0, count + 1).tolist()

    def step(self, k, slope, sample):
        self.slopes = [self.slopes[1], slope]
        h = self.levels[k + 1] - self.levels[k]
        before, now = self.slopes
        if before is None:
            return sample + h * now
        return sample + h * (1.5 * now - 0.5 * before)


def slope_of_sky(sample, level, clear):
    return (sample - clear) / (0.3 + level)


def draw(sampler, noise, clear, count=12):
    sampler.set_levels(3.0, count)
    sample = noise
    for k in range(count):
        sample = sampler.step(k, slope_of_sky(sample, sampler.levels[k], clear), sample)
    return sample


torch.manual_seed(4)
clear_morning, clear_evening = torch.rand(6, 6), 2 + torch.rand(6, 6)
noise = 3 * torch.randn(2, 6, 6)
sampler = TwoStepSampler()
morning = draw(sampler, noise[0], clear_morning)
evening = draw(sampler, noise[1], clear_evening)
print("mean brightness", morning.mean().item(), evening.mean().item())


def reference(x, clear, count=12, high=3.0):
    h, last = -high / count, None
    for k in range(count):
        now = (x - clear) / (0.3 + high + k * h)
        x = x + h * (now if last is None else 1.5 * now - 0.5 * last)
        last = now
    return x


SILENTLY_WRONG = not all(
    torch.allclose(a, reference(n, c), atol=1e-4)
    for a, n, c in [(morning, noise[0], clear_morning), (evening, noise[1], clear_evening)])
