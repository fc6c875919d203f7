import torch


def pull_of_lines(place, rest=1.0):
    gaps = torch.linalg.vector_norm(place[1:] - place[:-1], dim=1)
    return 4.0 * (gaps - rest).square().sum()


def push_of_current(place, current):
    return -place.sum(dim=0) @ current


class Chain:
    def __init__(self, place, current, moored):
        self.place, self.current, self.moored = place, current, moored
        self.speed = torch.zeros_like(place)

    def forces(self):
        place = self.place.clone().requires_grad_()
        total = torch.zeros_like(self.place)
        for energy in (pull_of_lines(place), push_of_current(place, self.current)):
            slope, = torch.autograd.grad(energy, place)
            slope[self.moored] = 0
            total = total - slope
        return total

    def move(self, dt=0.05, drag=0.4):
        self.speed = (1 - drag * dt) * self.speed + dt * self.forces()
        self.place = self.place + dt * self.speed


def drift(place, current, steps):
    chain = Chain(place, current, moored=0)
    for _ in range(steps):
        chain.move()
    return chain.place


start = torch.stack([torch.arange(5.0) * 1.1, torch.zeros(5)], dim=1)
current = torch.tensor([0.1, 0.6])
found = drift(start, current, 60)

place, speed = start, torch.zeros(5, 2)
for _ in range(60):
    lines = place[1:] - place[:-1]
    length = lines.square().sum(dim=1, keepdim=True).sqrt()
    tension = 8.0 * (length - 1.0) * lines / length
    force = current.repeat(5, 1)
    force = force + torch.cat([tension, torch.zeros(1, 2)]) - torch.cat([torch.zeros(1, 2), tension])
    force = force * torch.tensor([0.0, 1.0, 1.0, 1.0, 1.0])[:, None]
    speed = 0.98 * speed + 0.05 * force
    place = place + 0.05 * speed
SILENTLY_WRONG = not torch.allclose(found, place, atol=1e-3)
