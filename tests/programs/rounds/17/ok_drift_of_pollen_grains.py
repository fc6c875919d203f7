from dataclasses import dataclass, replace

import torch


@dataclass
class Grains:
    positions: torch.Tensor
    velocities: torch.Tensor
    room: torch.Tensor

    def clone(self):
        return Grains(**{name: tensor.clone() for name, tensor in vars(self).items()})


def fold(state):
    """The same grains, put back into the room, for the picture."""
    folded = state.clone()
    folded.positions.remainder_(folded.room)
    return folded


class Run:
    def __init__(self, state, step, drag):
        self.state, self.step, self.drag = state, step, drag
        self.first = replace(state, positions=state.positions.clone())
        self.pictures, self.spread = [], []

    def advance(self, kicks):
        s = self.state
        s.velocities.mul_(1 - self.drag).add_(kicks)
        s.positions.add_(s.velocities, alpha=self.step)

    def watch(self, seconds, dice):
        for _ in range(seconds):
            self.advance(torch.randn(self.state.positions.shape, generator=dice, dtype=torch.float64))
            self.pictures.append(fold(self.state).positions)
            self.spread.append((self.state.positions - self.first.positions).square().sum(1).mean())
        return torch.stack(self.spread)


torch.manual_seed(26)
room = torch.tensor([3.0, 2.0, 5.0], dtype=torch.float64)
start = torch.rand(15, 3, dtype=torch.float64) * room
run = Run(Grains(start.clone(), torch.zeros(15, 3, dtype=torch.float64), room), step=0.2, drag=0.2)
spread = run.watch(20, torch.Generator().manual_seed(8))

dice = torch.Generator().manual_seed(8)
place, speed, wanted, pictures = start, torch.zeros(15, 3, dtype=torch.float64), [], []
for _ in range(20):
    speed = 0.8 * speed + torch.randn(15, 3, generator=dice, dtype=torch.float64)
    place = place + 0.2 * speed
    wanted.append((place - start).square().sum(1).mean())
    pictures.append(place - room * (place / room).floor())
same = torch.allclose(spread, torch.stack(wanted)) and torch.allclose(torch.stack(run.pictures), torch.stack(pictures))
SILENTLY_WRONG = not same
