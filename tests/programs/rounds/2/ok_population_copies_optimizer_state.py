import copy
import torch
from torch import nn


class Member:
    def __init__(self, lr):
        self.model = nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)

    def train(self, x, y, steps):
        for _ in range(steps):
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()

    def snapshot(self):
        return copy.deepcopy({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()})

    def restore(self, state):
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])


torch.manual_seed(0)
x, y = torch.randn(24, 4), torch.randn(24, 1)
leader, follower, solo = Member(0.05), Member(0.2), Member(0.05)
solo.model.load_state_dict(leader.model.state_dict())
leader.train(x, y, steps=5)

follower.restore(leader.snapshot())
follower.optimizer.param_groups[0]["lr"] *= 0.8
for _ in range(3):
    leader.train(x, y, steps=1)
    follower.train(x, y, steps=1)

solo.train(x, y, steps=8)
expected = solo.model.weight
SILENTLY_WRONG = not torch.allclose(leader.model.weight, expected, atol=1e-6)
