import torch


class TankFarm:
    inflow = torch.tensor([0.30, 0.10, 0.05])
    outflow = torch.tensor([0.20, 0.15, 0.10])

    def __init__(self, nominal, extra):
        count = len(extra)
        self.level = nominal.expand(count, -1)
        for i in range(count):
            self.level[i, 0] += extra[i]

    def step(self, dt=0.1):
        drain = self.outflow * self.level.clamp(min=0).sqrt()
        passed = torch.nn.functional.pad(drain[:, :-1], (1, 0))
        self.level = self.level + dt * (self.inflow + passed - drain)

    def run(self, steps):
        for _ in range(steps):
            self.step()
        return self.level


nominal = torch.tensor([1.0, 0.6, 0.3])
extra = torch.tensor([0.0, 0.2, 0.4, 0.8, 1.6])
levels = TankFarm(nominal.clone(), extra).run(40)

single = []
for e in extra.tolist():
    a, b, c = 1.0 + e, 0.6, 0.3
    for _ in range(40):
        qa, qb, qc = 0.20 * a ** 0.5, 0.15 * b ** 0.5, 0.10 * c ** 0.5
        a, b, c = a + 0.1 * (0.30 - qa), b + 0.1 * (0.10 + qa - qb), c + 0.1 * (0.05 + qb - qc)
    single.append([a, b, c])
SILENTLY_WRONG = not torch.allclose(levels, torch.tensor(single), atol=1e-4)
