import torch


class NearPairs:
    def __init__(self, cutoff, skin):
        self.cutoff, self.skin = cutoff, skin
        self.places = None

    def build(self, places):
        self.places = places
        near = torch.cdist(places, places) < self.cutoff + self.skin
        self.pairs = torch.triu(near, diagonal=1).nonzero().T

    def get(self, places):
        if self.places is None or (places - self.places).norm(dim=1).max() > self.skin / 2:
            self.build(places)
        return self.pairs


def pushes(places, near):
    i, j = near.get(places)
    gap = places[i] - places[j]
    size = gap.norm(dim=1, keepdim=True)
    push = 4.0 * (near.cutoff - size).clamp(min=0) * gap / size
    return torch.zeros_like(places).index_add_(0, i, push).index_add_(0, j, -push)


def simulate(places, speeds, near, steps, dt=0.02):
    for _ in range(steps):
        speeds += dt * pushes(places, near)
        places += dt * speeds
    return places


torch.manual_seed(135)
places = torch.rand(24, 3, dtype=torch.float64) * 4
speeds = torch.randn(24, 3, dtype=torch.float64) - (places - 2.0)
found = simulate(places.clone(), speeds.clone(), NearPairs(1.0, 0.3), 80)

x, v = places, speeds
for _ in range(80):
    gap = x[:, None] - x[None]
    size = gap.norm(dim=2, keepdim=True) + torch.eye(24, dtype=torch.float64)[:, :, None]
    push = (4.0 * (1.0 - size).clamp(min=0) * gap / size).sum(dim=1)
    v = v + 0.02 * push
    x = x + 0.02 * v
SILENTLY_WRONG = not torch.allclose(found, x, atol=1e-6)
