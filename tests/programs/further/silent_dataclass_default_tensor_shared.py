from dataclasses import dataclass

import torch


@dataclass
class State:
    name: str
    hidden: torch.Tensor = torch.zeros(3)

    def update(self, x):
        self.hidden += x
        return self.hidden


left, right = State("left"), State("right")
left.update(torch.ones(3))
right.update(torch.full((3,), 2.0))
SILENTLY_WRONG = not torch.equal(right.hidden, torch.full((3,), 2.0))
