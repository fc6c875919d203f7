import math
from dataclasses import dataclass, replace

import torch


@dataclass
class State:
    angle: torch.Tensor
    speed: torch.Tensor
    time: float

    def fork(self, **changes):
        return replace(self, angle=self.angle.clone(), **changes)


def advance(state, dt):
    state.speed.sub_(state.angle.sin(), alpha=dt)
    state.angle.add_(state.speed, alpha=dt)
    state.time += dt


def future(state, kick, steps=40, dt=0.05):
    branch = state.fork(time=0.0, speed=state.speed * (1 + kick))
    for _ in range(steps):
        advance(branch, dt)
    return branch.angle


now = State(torch.tensor([1.0, -0.4]), torch.tensor([0.1, 0.9]), 2.5)
ends = [future(now, kick) for kick in (0.0, 0.5, -0.5)]


def path(angle, speed):
    for _ in range(40):
        speed -= 0.05 * math.sin(angle)
        angle += 0.05 * speed
    return angle


right = True
for end, kick in zip(ends, (0.0, 0.5, -0.5)):
    expected = torch.tensor([path(1.0, 0.1 * (1 + kick)), path(-0.4, 0.9 * (1 + kick))])
    right = right and torch.allclose(end, expected, atol=1e-4)
SILENTLY_WRONG = not right
