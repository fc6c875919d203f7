import math

import torch


class WellModel:
    def __init__(self, echoes):
        self.echoes = echoes

    def energy(self, place):
        level, slope = place
        return 0.5 * (self.echoes - level - slope * torch.arange(len(self.echoes))).square().sum() + 0.5 * place @ place

    def gradient(self, place):
        place = place.detach().clone().requires_grad_()
        return torch.autograd.grad(self.energy(place), place)[0]


class Hamiltonian:
    def __init__(self, model, size, moves, seed):
        self.model, self.size, self.moves = model, size, moves
        self.dice = torch.Generator().manual_seed(seed)

    def travel(self, place, speed):
        speed.sub_(self.model.gradient(place), alpha=self.size / 2)
        for k in range(self.moves):
            place.add_(speed, alpha=self.size)
            last = k == self.moves - 1
            speed.sub_(self.model.gradient(place), alpha=self.size / 2 if last else self.size)
        return place, speed

    def step(self, place):
        speed = torch.randn(2, generator=self.dice, dtype=place.dtype)
        before = self.model.energy(place) + 0.5 * speed @ speed
        proposal, speed = self.travel(place, speed)
        after = self.model.energy(proposal) + 0.5 * speed @ speed
        accepted = math.log(torch.rand(1, generator=self.dice).item()) < float(before - after)
        return proposal if accepted else place


torch.manual_seed(31)
model = WellModel(torch.tensor([1.0, 1.4, 2.1, 2.2], dtype=torch.float64))
sampler, place, chain = Hamiltonian(model, 0.52, 4, seed=5), torch.zeros(2, dtype=torch.float64), []
for _ in range(60):
    place = sampler.step(place)
    chain.append(place.clone())

dice, place, total = torch.Generator().manual_seed(5), torch.zeros(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
for _ in range(60):
    start = torch.randn(2, generator=dice, dtype=torch.float64)
    x, v = place, start - 0.26 * model.gradient(place)
    for k in range(4):
        x = x + 0.52 * v
        v = v - (0.26 if k == 3 else 0.52) * model.gradient(x)
    change = model.energy(place) + 0.5 * start @ start - model.energy(x) - 0.5 * v @ v
    if math.log(torch.rand(1, generator=dice).item()) < float(change):
        place = x
    total = total + place / 60
SILENTLY_WRONG = not torch.allclose(torch.stack(chain).mean(dim=0), total, atol=1e-6)
