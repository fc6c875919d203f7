from dataclasses import dataclass

import torch


@dataclass
class Droplets:
    positions: torch.Tensor
    velocities: torch.Tensor
    tank: torch.Tensor


def fold(state):
    """The same droplets, put back into the tank, for the picture."""
    folded = Droplets(**vars(state))
    folded.positions.remainder_(folded.tank)
    return folded


class Run:
    def __init__(self, state, step, drag):
        self.state, self.step, self.drag = state, step, drag
        self.first = state.positions.clone()
        self.pictures, self.spread = [], []

    def advance(self, kicks):
        s = self.state
        s.velocities.mul_(1 - self.drag).add_(kicks)
        s.positions.add_(s.velocities, alpha=self.step)

    def watch(self, seconds, dice):
        for second in range(seconds):
            self.advance(torch.randn(self.state.positions.shape, generator=dice, dtype=torch.float64))
            if second % 4 == 0:
                self.pictures.append(fold(self.state).positions.mean())
            self.spread.append((self.state.positions - self.first).square().sum(1).mean())
        return torch.stack(self.spread)


torch.manual_seed(12)
tank = torch.tensor([4.0, 6.0], dtype=torch.float64)
start = torch.rand(25, 2, dtype=torch.float64) * tank
state = Droplets(start.clone(), torch.zeros(25, 2, dtype=torch.float64), tank)
spread = Run(state, step=0.3, drag=0.1).watch(24, torch.Generator().manual_seed(3))

dice = torch.Generator().manual_seed(3)
place, speed, wanted = start, torch.zeros(25, 2, dtype=torch.float64), []
for _ in range(24):
    speed = 0.9 * speed + torch.randn(25, 2, generator=dice, dtype=torch.float64)
    place = place + 0.3 * speed
    wanted.append((place - start).square().sum(1).mean())
SILENTLY_WRONG = not torch.allclose(spread, torch.stack(wanted))
