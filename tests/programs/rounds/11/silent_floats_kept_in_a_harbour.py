import torch


class Harbour:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def outside(self, place):
        return ((place < self.low) | (place > self.high)).any(dim=1)

    def contain(self, place, speed):
        left = self.outside(place)
        place[left].clamp_(self.low, self.high)
        speed[left].neg_()


def drift(place, speed, harbour, wind, steps=30, dt=0.1):
    for step in range(steps):
        speed += dt * wind[step]
        place += dt * speed
        harbour.contain(place, speed)
    return place


torch.manual_seed(33)
place, speed = torch.rand(20, 2), torch.randn(20, 2) * 0.3
wind = torch.randn(30, 20, 2) * 0.2
found = drift(place.clone(), speed.clone(), Harbour(0.0, 1.0), wind)

x, v = place, speed
for step in range(30):
    v = v + 0.1 * wind[step]
    x = x + 0.1 * v
    left = (x.clamp(0.0, 1.0) != x).any(dim=1, keepdim=True)
    x, v = x.clamp(0.0, 1.0), torch.where(left, -v, v)
SILENTLY_WRONG = not torch.allclose(found, x, atol=1e-5)
