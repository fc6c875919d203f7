from dataclasses import dataclass

import torch


@dataclass
class TimeStep:
    velocity: torch.Tensor
    reward: float


class SwingBoat:
    """Two boats of a fair, each with an angle and a speed."""

    def __init__(self, dt=0.05):
        self.dt = dt
        self.state = torch.zeros(2, 2)

    def reset(self):
        self.state.zero_()
        self.state[:, 0] = torch.tensor([0.3, -0.2])
        return self.observe()

    def step(self, push):
        self.state[:, 1] += self.dt * (push - 4 * self.state[:, 0].sin())
        self.state[:, 0] += self.dt * self.state[:, 1]
        return self.observe()

    def observe(self):
        return TimeStep(velocity=self.state[:, 1], reward=float(self.state[:, 0].abs().mean()))


boats = SwingBoat()
seen = [boats.reset()]
for t in range(40):
    seen.append(boats.step(torch.tensor([1.0, -0.5]) if t % 8 < 4 else torch.zeros(2)))
speeds = torch.stack([s.velocity for s in seen])
jerk = (speeds[1:] - speeds[:-1]).abs().amax(dim=0) / boats.dt
print("hardest pull on each boat", jerk.tolist(), "swing", seen[-1].reward)

angle, speed, pulls = torch.tensor([0.3, -0.2]), torch.zeros(2), []
for t in range(40):
    pull = (torch.tensor([1.0, -0.5]) if t % 8 < 4 else torch.zeros(2)) - 4 * angle.sin()
    speed = speed + 0.05 * pull
    angle = angle + 0.05 * speed
    pulls.append(pull.abs())
SILENTLY_WRONG = not torch.allclose(jerk, torch.stack(pulls).amax(dim=0), atol=1e-3)
