import torch


class Filter:
    def __init__(self, count, spread, noise, seed):
        self.source = torch.Generator().manual_seed(seed)
        self.particles = [spread * torch.randn(2, generator=self.source) for _ in range(count)]
        self.noise = noise

    def move(self, speed):
        for particle in self.particles:
            particle += speed + 0.3 * torch.randn(2, generator=self.source)

    def weigh(self, heard):
        away = torch.stack([(p - heard).square().sum() for p in self.particles])
        return (-away / (2 * self.noise ** 2)).softmax(dim=0)

    def resample(self, weights):
        drawn = torch.multinomial(weights, len(weights), replacement=True, generator=self.source)
        self.particles = [self.particles[k] for k in drawn.tolist()]

    def mean(self):
        return torch.stack(self.particles).mean(dim=0)


def follow(whale, speed, sounds):
    track = []
    for heard in sounds:
        whale.move(speed)
        whale.resample(whale.weigh(heard))
        track.append(whale.mean())
    return torch.stack(track)


torch.manual_seed(173)
speed = torch.tensor([0.5, 0.2])
sounds = torch.arange(1, 9)[:, None] * speed + 0.4 * torch.randn(8, 2)
track = follow(Filter(12, spread=1.0, noise=0.8, seed=5), speed, sounds)

source, expected = torch.Generator().manual_seed(5), []
cloud = torch.stack([torch.randn(2, generator=source) for _ in range(12)])
for heard in sounds:
    cloud = torch.stack([p + (speed + 0.3 * torch.randn(2, generator=source)) for p in cloud])
    weights = (-(cloud - heard).square().sum(dim=1) / (2 * 0.8 ** 2)).softmax(dim=0)
    cloud = cloud[torch.multinomial(weights, 12, replacement=True, generator=source)]
    expected.append(cloud.mean(dim=0))
SILENTLY_WRONG = not torch.allclose(track, torch.stack(expected), atol=1e-3)
