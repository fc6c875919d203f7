import torch


class ThreeStepSampler:
    """Adams-Bashforth up to third order, with a ring of slopes that is kept for a whole run."""

    orders = {1: (1.0,), 2: (1.5, -0.5), 3: (23 / 12, -16 / 12, 5 / 12)}

    def __init__(self, shape):
        self.slopes = torch.zeros(3, *shape)
        self.known = 0

    def start(self, levels):
        self.levels = levels
        self.slopes.zero_()
        self.known = 0

    def step(self, k, slope, sample):
        self.slopes[k % 3].copy_(slope)
        self.known = min(self.known + 1, 3)
        h = self.levels[k + 1] - self.levels[k]
        for back, weight in enumerate(self.orders[self.known]):
            sample.add_(self.slopes[(k - back) % 3], alpha=h * weight)
        return sample


def draw(sampler, noise, relief, levels):
    sampler.start(levels)
    sample = noise.clone()
    for k in range(len(levels) - 1):
        sample = sampler.step(k, (sample - relief) / (0.4 + levels[k]), sample)
    return sample


torch.manual_seed(7)
hills, dunes = 5 * torch.rand(5, 7), torch.rand(5, 7)
noise = 4 * torch.randn(2, 5, 7)
levels = [4.0 * (1 - k / 14) for k in range(15)]
sampler = ThreeStepSampler((5, 7))
drawn = [draw(sampler, noise[0], hills, levels), draw(sampler, noise[1], dunes, levels[4:])]
print("mean heights", [d.mean().item() for d in drawn])


def reference(x, relief, levels):
    past = []
    for a, b in zip(levels, levels[1:]):
        past.insert(0, (x - relief) / (0.4 + a))
        weights = ThreeStepSampler.orders[min(len(past), 3)]
        x = x + (b - a) * sum(w * s for w, s in zip(weights, past))
    return x


expected = [reference(noise[0], hills, levels), reference(noise[1], dunes, levels[4:])]
SILENTLY_WRONG = not all(torch.allclose(a, b, atol=1e-3) for a, b in zip(drawn, expected))
