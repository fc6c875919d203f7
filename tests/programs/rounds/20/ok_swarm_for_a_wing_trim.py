import torch


class Swarm:
    def __init__(self, cost, low, high, count, seed):
        self.dice = torch.Generator().manual_seed(seed)
        self.cost = cost
        self.low, self.high = low, high
        self.place = low + (high - low) * torch.rand(count, len(low), dtype=low.dtype, generator=self.dice)
        self.speed = torch.zeros_like(self.place)
        self.own = self.place.clone()
        self.own_cost = cost(self.place)
        self.lead = self.own[self.own_cost.argmin()].clone()

    def step(self, inertia=0.6, pull=1.5):
        a, b = torch.rand(2, *self.place.shape, dtype=self.low.dtype, generator=self.dice)
        self.speed *= inertia
        self.speed += pull * a * (self.own - self.place) + pull * b * (self.lead - self.place)
        self.place += self.speed
        torch.clamp(self.place, self.low, self.high, out=self.place)
        costs = self.cost(self.place)
        better = costs < self.own_cost
        self.own[better] = self.place[better]
        self.own_cost[better] = costs[better]
        best = self.own_cost.argmin()
        self.lead = self.own[best].clone()
        return self.own_cost[best].clone()


def drag(trim):
    flap, slat = trim[:, 0], trim[:, 1]
    lift = 1.1 + 0.06 * flap + 0.03 * slat
    return 0.02 + 0.04 * lift ** 2 + 0.0007 * (flap - 6) ** 2 + 0.0004 * (slat - 9) ** 2 + 0.01 * torch.sin(flap)


low = torch.tensor([0.0, 0.0], dtype=torch.float64)
high = torch.tensor([20.0, 25.0], dtype=torch.float64)
swarm = Swarm(drag, low, high, count=10, seed=12)
path = torch.stack([swarm.step() for _ in range(30)])
print("trim", swarm.lead.tolist(), "drag", path[-1].item())

dice = torch.Generator().manual_seed(12)
x = (high - low) * torch.rand(10, 2, dtype=torch.float64, generator=dice)
v, own = torch.zeros_like(x), x
expected = []
for _ in range(30):
    lead = own[int(drag(own).argmin())]
    a, b = torch.rand(2, 10, 2, dtype=torch.float64, generator=dice)
    v = 0.6 * v + 1.5 * a * (own - x) + 1.5 * b * (lead - x)
    x = (x + v).clamp(low, high)
    own = torch.where((drag(x) < drag(own))[:, None], x, own)
    expected.append(drag(own).min())
right = torch.allclose(path, torch.stack(expected), atol=1e-6)
SILENTLY_WRONG = not (right and torch.allclose(drag(swarm.lead[None])[0], path[-1], atol=1e-6))
