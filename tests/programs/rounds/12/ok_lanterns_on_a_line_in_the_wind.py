import torch


def weight(place, mass):
    return 9.8 * (mass * place[:, 1]).sum()


def wind(place, blow):
    return -place.sum(dim=0) @ blow


def stretch(place, rest):
    return 20.0 * (torch.linalg.vector_norm(place[1:] - place[:-1], dim=1) - rest).square().sum()


class Line:
    def __init__(self, place, mass, blow, hooks, rest=1.0):
        self.place, self.hooks = place, hooks
        self.energies = [lambda p: weight(p, mass), lambda p: wind(p, blow), lambda p: stretch(p, rest)]

    def force(self):
        place = self.place.detach().requires_grad_()
        total = torch.zeros_like(self.place)
        for energy in self.energies:
            slope, = torch.autograd.grad(energy(place), place)
            total -= slope
        total[self.hooks] = 0
        return total

    def settle(self, steps, rate=0.004):
        for _ in range(steps):
            self.place.add_(self.force(), alpha=rate)
        return self.place


start = torch.stack([torch.arange(6.0), torch.zeros(6)], dim=1)
mass, blow = torch.tensor([0.0, 0.2, 0.3, 0.1, 0.4, 0.0]), torch.tensor([0.5, 0.0])
found = Line(start.clone(), mass, blow, [0, 5]).settle(80)

place = start
free = torch.tensor([0.0, 1.0, 1.0, 1.0, 1.0, 0.0])[:, None]
for _ in range(80):
    lines = place[1:] - place[:-1]
    length = lines.square().sum(dim=1, keepdim=True).sqrt()
    tension = 40.0 * (length - 1.0) * lines / length
    pulls = torch.cat([tension, torch.zeros(1, 2)]) - torch.cat([torch.zeros(1, 2), tension])
    falls = torch.stack([torch.zeros(6), -9.8 * mass], dim=1)
    place = place + 0.004 * free * (pulls + falls + blow)
SILENTLY_WRONG = not torch.allclose(found, place, atol=1e-3)
