import torch
import torch.nn as nn


class Yard:
    def __init__(self, cranes, limit, generator):
        self.state = torch.zeros(cranes, 3)
        self.age, self.limit = torch.zeros(cranes, dtype=torch.long), limit + torch.arange(cranes)
        self.generator = generator
        for k in range(cranes):
            self.begin(k)

    def begin(self, k):
        self.state[k].uniform_(generator=self.generator)
        self.age[k] = 0

    def step(self, action, judge):
        self.state.mul_(0.8).add_(action)
        self.age += 1
        rewards, follow = self.state.abs().sum(dim=1).neg_(), judge(self.state)
        for k in (self.age >= self.limit).nonzero()[:, 0].tolist():
            self.begin(k)
        return rewards, follow


@torch.no_grad()
def targets(yard, critic, actions, gamma=0.95):
    rows = torch.empty(actions.shape[:2])
    for row, action in zip(rows, actions):
        rewards, follow = yard.step(action, critic)
        torch.add(rewards, follow[:, 0], alpha=gamma, out=row)
    return rows


torch.manual_seed(24)
critic, actions = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)), 0.4 * torch.randn(20, 4, 3)
found = targets(Yard(4, 5, torch.Generator().manual_seed(7)), critic, actions)

generator, rows = torch.Generator().manual_seed(7), []
state, age = [torch.rand(3, generator=generator) for _ in range(4)], [0] * 4
for action in actions:
    state = [0.8 * s + a for s, a in zip(state, action)]
    with torch.no_grad():
        rows.append(torch.stack([0.95 * critic(s)[0] - s.abs().sum() for s in state]))
    age = [n + 1 for n in age]
    for k in range(4):
        if age[k] >= 5 + k:
            state[k], age[k] = torch.rand(3, generator=generator), 0
SILENTLY_WRONG = not torch.allclose(found, torch.stack(rows), atol=1e-5)
