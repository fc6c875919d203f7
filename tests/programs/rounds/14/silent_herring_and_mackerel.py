import torch


class Shoals:
    def __init__(self, sizes, seed):
        dice = torch.Generator().manual_seed(seed)
        self.place = {name: torch.rand(size, 2, generator=dice, dtype=torch.float64) for name, size in sizes.items()}
        self.speed = {name: torch.zeros(size, 2, dtype=torch.float64) for name, size in sizes.items()}

    def rule(self, name, other, strength, dt):
        place, speed = self.place[name], self.speed[name]
        gaps = self.place[other][None] - place[:, None]
        force = strength * (gaps / (0.1 + gaps.norm(dim=2, keepdim=True))).sum(dim=1)
        speed.add_(force, alpha=dt)
        place.add_(speed, alpha=dt)

    def step(self, rules, dt=0.05):
        for name, (other, strength) in rules.items():
            self.rule(name, other, strength, dt)


rules = {"herring": ("mackerel", -0.3), "mackerel": ("herring", 0.2)}
shoals = Shoals({"herring": 9, "mackerel": 5}, seed=131)
place = {name: rows.clone() for name, rows in shoals.place.items()}
for _ in range(40):
    shoals.step(rules)
gap = shoals.place["herring"].mean(dim=0) - shoals.place["mackerel"].mean(dim=0)

speed = {name: torch.zeros_like(rows) for name, rows in place.items()}
for _ in range(40):
    force = {}
    for name, (other, strength) in rules.items():
        gaps = place[other][None] - place[name][:, None]
        force[name] = strength * (gaps / (0.1 + gaps.norm(dim=2, keepdim=True))).sum(dim=1)
    speed = {name: speed[name] + 0.05 * force[name] for name in place}
    place = {name: place[name] + 0.05 * speed[name] for name in place}
expected = place["herring"].mean(dim=0) - place["mackerel"].mean(dim=0)
SILENTLY_WRONG = not torch.allclose(gap, expected, atol=1e-4)
