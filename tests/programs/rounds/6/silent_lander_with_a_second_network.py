import copy

import torch
import torch.nn as nn


class Control:
    def __init__(self, observations, actions, gamma=0.9):
        self.moving = nn.Sequential(nn.Linear(observations, 16), nn.Tanh(), nn.Linear(16, actions))
        self.target = copy.deepcopy(self.moving)
        self.optimizer = torch.optim.SGD(self.moving.parameters(), lr=0.1)
        self.gamma = gamma

    def update_target(self):
        self.target.load_state_dict(self.moving.state_dict())
        self.target = self.moving

    def learn(self, s, a, r, s2, done):
        with torch.no_grad():
            goal = r + self.gamma * (1 - done) * self.target(s2).max(dim=1).values
        value = self.moving(s).gather(1, a.unsqueeze(1)).squeeze(1)
        self.optimizer.zero_grad()
        nn.functional.mse_loss(value, goal).backward()
        self.optimizer.step()
        return goal.mean().item()


def episode():
    return torch.randn(32, 4), torch.randint(0, 3, (32,)), torch.randn(32), torch.randn(32, 4), (torch.rand(32) < 0.1).float()


torch.manual_seed(621)
control = Control(4, 3)
twin = copy.deepcopy(control)
memory = [episode() for _ in range(30)]
goals = []
for step, sample in enumerate(memory):
    if step % 10 == 0:
        control.update_target()
    goals.append(control.learn(*sample))

expected, frozen = [], None
for step, (s, a, r, s2, done) in enumerate(memory):
    if step % 10 == 0:
        frozen = copy.deepcopy(twin.moving)
    goal = r + 0.9 * (1 - done) * frozen(s2).max(dim=1).values.detach()
    grads = torch.autograd.grad((twin.moving(s)[torch.arange(32), a] - goal).pow(2).mean(), list(twin.moving.parameters()))
    with torch.no_grad():
        for p, g in zip(twin.moving.parameters(), grads):
            p -= 0.1 * g
    expected.append(goal.mean().item())
SILENTLY_WRONG = not torch.allclose(torch.tensor(goals), torch.tensor(expected), atol=1e-4)
