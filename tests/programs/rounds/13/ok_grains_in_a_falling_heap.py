import torch


class NearPairs:
    def __init__(self, cutoff, skin):
        self.cutoff, self.skin, self.builds = cutoff, skin, 0
        self.places = None

    def build(self, places):
        if self.places is None:
            self.places = torch.empty_like(places)
        self.places.copy_(places)
        near = torch.cdist(places, places) < self.cutoff + self.skin
        self.pairs = near.fill_diagonal_(False).triu_().nonzero().T
        self.builds += 1

    def get(self, places):
        if self.places is None or (places - self.places).norm(dim=1).max() > self.skin / 2:
            self.build(places)
        return self.pairs


def simulate(places, speeds, near, steps, dt=0.02):
    force = torch.empty_like(places)
    for _ in range(steps):
        i, j = near.get(places)
        gap = places[i] - places[j]
        size = gap.norm(dim=1, keepdim=True)
        push = gap.div_(size).mul_(4.0 * (near.cutoff - size).clamp_(min=0))
        force.zero_().index_add_(0, i, push).index_add_(0, j, push, alpha=-1)
        speeds.add_(force, alpha=dt)
        places.add_(speeds, alpha=dt)
    return places


torch.manual_seed(235)
places = torch.rand(24, 3, dtype=torch.float64) * 4
speeds = torch.randn(24, 3, dtype=torch.float64) - (places - 2.0)
near = NearPairs(1.0, 0.3)
found = simulate(places.clone(), speeds.clone(), near, 80)

x, v = places, speeds
for _ in range(80):
    gap = x[:, None] - x[None]
    size = gap.norm(dim=2, keepdim=True) + torch.eye(24, dtype=torch.float64)[:, :, None]
    push = (4.0 * (1.0 - size).clamp(min=0) * gap / size).sum(dim=1)
    v = v + 0.02 * push
    x = x + 0.02 * v
SILENTLY_WRONG = near.builds >= 80 or not torch.allclose(found, x, atol=1e-6)
