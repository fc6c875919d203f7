import math
from dataclasses import dataclass, field

import torch


@dataclass
class Walker:
    name: str
    stride: float
    place: torch.Tensor = field(default_factory=lambda: torch.zeros(2, dtype=torch.float64))
    visits: torch.Tensor = field(default_factory=lambda: torch.zeros(4, dtype=torch.long))
    trail: list = field(default_factory=list)

    def walk(self, heading):
        heading = torch.as_tensor(heading, dtype=torch.float64)
        self.place += self.stride * torch.stack([heading.cos(), heading.sin()])
        quadrant = 2 * (self.place[1] < 0) + (self.place[0] < 0)
        self.visits[quadrant] += 1
        self.trail.append(self.place.clone())


def forage(walkers, headings):
    for row in headings:
        for walker, heading in zip(walkers, row):
            walker.walk(heading)
    return {walker.name: walker for walker in walkers}


torch.manual_seed(970)
headings = (torch.rand(25, 3) * 2 * torch.pi).tolist()
ants = forage([Walker("red", 1.0), Walker("black", 0.5), Walker("yellow", 2.0)], headings)

SILENTLY_WRONG = False
for column, (name, stride) in enumerate((("red", 1.0), ("black", 0.5), ("yellow", 2.0))):
    x, y, visits, trail = 0.0, 0.0, [0, 0, 0, 0], []
    for row in headings:
        x, y = x + stride * math.cos(row[column]), y + stride * math.sin(row[column])
        visits[2 * (y < 0) + (x < 0)] += 1
        trail.append([x, y])
    expected = torch.tensor(trail, dtype=torch.float64)
    SILENTLY_WRONG |= ants[name].visits.tolist() != visits
    SILENTLY_WRONG |= not torch.allclose(torch.stack(ants[name].trail), expected, atol=1e-9)
