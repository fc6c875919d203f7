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

    def exploit(self, other):
        self.model.load_state_dict(other.model.state_dict())
        self.optimizer.load_state_dict(other.optimizer.state_dict())

    def explore(self, factor):
        for group in self.optimizer.param_groups:
            group["lr"] *= factor


torch.manual_seed(0)
x, y = torch.randn(24, 4), torch.randn(24, 1)
leader, follower = Member(lr=0.05), Member(lr=0.2)
leader.train(x, y, steps=5)
alone = copy.deepcopy(leader)

follower.exploit(leader)
follower.explore(0.8)
for _ in range(3):
    leader.train(x, y, steps=1)
    follower.train(x, y, steps=1)

alone.train(x, y, steps=3)
expected = alone.model.weight
SILENTLY_WRONG = not torch.allclose(leader.model.weight, expected, atol=1e-5)
