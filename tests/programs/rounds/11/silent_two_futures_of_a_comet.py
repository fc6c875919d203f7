from dataclasses import dataclass, replace

import torch


@dataclass
class State:
    place: torch.Tensor
    speed: torch.Tensor
    time: float


def pull(place):
    return -place / place.norm().pow(3)


def advance(state, dt):
    state.speed.add_(pull(state.place), alpha=dt)
    state.place.add_(state.speed, alpha=dt)
    state.time += dt


def future(state, kick, steps=50, dt=0.02):
    branch = replace(state, time=0.0)
    branch.speed.mul_(1 + kick)
    for _ in range(steps):
        advance(branch, dt)
    return branch.place


now = State(torch.tensor([1.0, 0.2]), torch.tensor([0.1, 0.9]), 12.5)
miss = [future(now, kick).clone() for kick in (0.0, 0.05, -0.05)]


def path(kick):
    x, y, u, v = 1.0, 0.2, 0.1 * (1 + kick), 0.9 * (1 + kick)
    for _ in range(50):
        r = (x * x + y * y) ** 1.5
        u, v = u - 0.02 * x / r, v - 0.02 * y / r
        x, y = x + 0.02 * u, y + 0.02 * v
    return torch.tensor([x, y])


SILENTLY_WRONG = not all(torch.allclose(a, path(k), atol=1e-4) for a, k in zip(miss, (0.0, 0.05, -0.05)))
