import torch


class Pool:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def contain(self, place, speed):
        left = ((place < self.low) | (place > self.high)).any(dim=1)
        place.clamp_(self.low, self.high)
        speed[left] *= -1
        speed[:, 1][left] *= 0.5


def drift(place, speed, pool, wind, steps=30, dt=0.1):
    for step in range(steps):
        speed += dt * wind[step]
        place += dt * speed
        pool.contain(place, speed)
    return place


torch.manual_seed(330)
place, speed = torch.rand(16, 2), torch.randn(16, 2) * 0.3
wind = torch.randn(30, 16, 2) * 0.2
found = drift(place.clone(), speed.clone(), Pool(0.0, 1.0), wind)

x, v = place, speed
damping = torch.tensor([-1.0, -0.5])
for step in range(30):
    v = v + 0.1 * wind[step]
    x = x + 0.1 * v
    left = (x.clamp(0.0, 1.0) != x).any(dim=1, keepdim=True)
    x, v = x.clamp(0.0, 1.0), torch.where(left, v * damping, v)
SILENTLY_WRONG = not torch.allclose(found, x, atol=1e-5)
