import torch


class Filter:
    def __init__(self, count, spread, noise, seed):
        self.source = torch.Generator().manual_seed(seed)
        self.particles = torch.randn(count, 2, generator=self.source).mul_(spread)
        self.noise = noise

    def move(self, speed):
        for particle in self.particles:
            particle += speed + 0.2 * torch.randn(2, generator=self.source)

    def weigh(self, heard):
        away = (self.particles - heard).square_().sum(dim=1)
        return away.div_(-2 * self.noise ** 2).softmax(dim=0)

    def resample(self, weights):
        drawn = torch.multinomial(weights, len(weights), replacement=True, generator=self.source)
        self.particles = self.particles[drawn]

    def mean(self):
        return self.particles.mean(dim=0)


def follow(drone, speed, echoes):
    track = []
    for heard in echoes:
        drone.move(speed)
        drone.resample(drone.weigh(heard))
        track.append(drone.mean())
    return torch.stack(track)


torch.manual_seed(174)
speed = torch.tensor([-0.3, 0.6])
echoes = torch.arange(1, 10)[:, None] * speed + 0.3 * torch.randn(9, 2)
track = follow(Filter(10, spread=1.5, noise=0.7, seed=6), speed, echoes)

source, expected = torch.Generator().manual_seed(6), []
cloud = 1.5 * torch.randn(10, 2, generator=source)
for heard in echoes:
    cloud = torch.stack([p + (speed + 0.2 * torch.randn(2, generator=source)) for p in cloud])
    weights = (-(cloud - heard).square().sum(dim=1) / (2 * 0.7 ** 2)).softmax(dim=0)
    drawn = torch.multinomial(weights, 10, replacement=True, generator=source).tolist()
    cloud = torch.stack([cloud[k] for k in drawn])
    expected.append(cloud.mean(dim=0))
SILENTLY_WRONG = not torch.allclose(track, torch.stack(expected), atol=1e-3)
