import torch


class Swarm:
    def __init__(self, cost, low, high, count, seed):
        self.dice = torch.Generator().manual_seed(seed)
        self.cost = cost
        self.place = low + (high - low) * torch.rand(count, len(low), generator=self.dice)
        self.speed = torch.zeros_like(self.place)
        self.own = self.place.clone()
        self.own_cost = cost(self.place)
        self.lead_cost = torch.tensor(torch.inf)
        self.lead = None
        self.follow(self.own_cost)

    def follow(self, costs):
        best = costs.argmin()
        if costs[best] < self.lead_cost:
            self.lead = self.place[best]
            self.lead_cost = costs[best]

    def step(self, inertia=0.7, pull=1.4):
        a, b = torch.rand(2, *self.place.shape, generator=self.dice)
        self.speed = (inertia * self.speed + pull * a * (self.own - self.place)
                      + pull * b * (self.lead - self.place))
        self.place += self.speed
        costs = self.cost(self.place)
        better = costs < self.own_cost
        self.own[better] = self.place[better]
        self.own_cost = torch.minimum(costs, self.own_cost)
        self.follow(costs)


flow = torch.linspace(0.0, 4.0, 15)
head = 32.0 - 0.3 * flow - 1.1 * flow ** 2


def misfit(guess):
    curve = guess[:, :1] - guess[:, 1:2] * flow - guess[:, 2:] * flow ** 2
    return (curve - head).square().mean(dim=1)


low, high = torch.tensor([10.0, 0.0, 0.0]), torch.tensor([60.0, 3.0, 4.0])
swarm = Swarm(misfit, low, high, count=12, seed=31)
for _ in range(40):
    swarm.step()
print("best curve", swarm.lead.tolist(), "misfit", swarm.lead_cost.item())

dice = torch.Generator().manual_seed(31)
x = low + (high - low) * torch.rand(12, 3, generator=dice)
v, own, own_cost = torch.zeros(12, 3), x, misfit(x)
for _ in range(40):
    top = own[int(own_cost.argmin())].tolist()
    a, b = torch.rand(2, 12, 3, generator=dice)
    v = 0.7 * v + 1.4 * a * (own - x) + 1.4 * b * (torch.tensor(top) - x)
    x = x + v
    cost = misfit(x)
    own = torch.where((cost < own_cost)[:, None], x, own)
    own_cost = torch.minimum(cost, own_cost)
best = own[own_cost.argmin()]
SILENTLY_WRONG = not torch.allclose(swarm.lead, best, atol=1e-3)
