import torch


class BrownianPath:
    def __init__(self, shape, times, seed):
        gen = torch.Generator().manual_seed(seed)
        steps = (times[:-1] - times[1:]).sqrt().view(-1, *[1] * len(shape))
        self.moves = steps * torch.randn(len(times) - 1, *shape, generator=gen)

    def __call__(self, step):
        return self.moves[step]


class DuneScheduler:
    """Reverse-time SDE for heights of a dune field."""

    def __init__(self, spread=1.0):
        self.spread = spread
        self.noise = None

    def set_timesteps(self, count):
        self.times = torch.linspace(1.0, 0.0, count + 1)
        self.step_index = 0

    def step(self, drift, sample, seed):
        if self.noise is None:
            self.noise = BrownianPath(sample.shape, self.times, seed)
        i = self.step_index
        dt = self.times[i] - self.times[i + 1]
        sample = sample + drift * dt + self.spread * self.noise(i)
        self.step_index += 1
        return sample


def drift_to(target, sample):
    return 3.0 * (target - sample)


def draw(scheduler, target, seed, count=20):
    scheduler.set_timesteps(count)
    sample = torch.zeros_like(target)
    for _ in range(count):
        sample = scheduler.step(drift_to(target, sample), sample, seed)
    return sample


ridge = torch.sin(torch.linspace(0, 6.28, 24))
scheduler = DuneScheduler(spread=0.4)
fields = {seed: draw(scheduler, ridge, seed) for seed in (11, 12, 13)}
print({seed: round(field.std().item(), 4) for seed, field in fields.items()})

wrong = False
for seed, field in fields.items():
    gen = torch.Generator().manual_seed(seed)
    moves = 0.05 ** 0.5 * torch.randn(20, 24, generator=gen)
    height = torch.zeros(24)
    for move in moves:
        height = height + 3.0 * (ridge - height) * 0.05 + 0.4 * move
    wrong = wrong or not torch.allclose(height, field, atol=1e-4)
SILENTLY_WRONG = wrong
