import copy

import torch
import torch.nn as nn


class LiftAgent:
    def __init__(self, critic, device, tau=0.1):
        self.critic = critic.to(device)
        self.lagged = copy.deepcopy(critic).to(device).requires_grad_(False)
        self.tau = tau
        self.optimizer = torch.optim.SGD(self.critic.parameters(), lr=0.1)

    def learn(self, floor, cost, next_floor, discount=0.9):
        target = cost + discount * self.lagged(next_floor).squeeze(1)
        loss = (self.critic(floor).squeeze(1) - target).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for slow, fast in zip(self.lagged.parameters(), self.critic.parameters()):
            slow.lerp_(fast.detach(), self.tau)


torch.manual_seed(141)
critic = nn.Linear(4, 1)
weight = torch.cat([critic.weight.detach().flatten(), critic.bias.detach()])
slow_weight = weight.clone()
floors, next_floors, costs = torch.rand(50, 6, 4), torch.rand(50, 6, 4), torch.rand(50, 6)

agent = LiftAgent(critic, torch.device("cpu"))
for floor, cost, next_floor in zip(floors, costs, next_floors):
    agent.learn(floor, cost, next_floor)
values = agent.critic(floors[0]).detach().squeeze(1)

ones = torch.ones(6, 1)
for floor, cost, next_floor in zip(floors, costs, next_floors):
    row, next_row = torch.cat([floor, ones], 1), torch.cat([next_floor, ones], 1)
    error = row @ weight - cost - 0.9 * next_row @ slow_weight
    weight = weight - 0.1 * 2 * (error[:, None] * row).mean(dim=0)
    slow_weight = slow_weight + 0.1 * (weight - slow_weight)
expected = torch.cat([floors[0], ones], 1) @ weight
SILENTLY_WRONG = not torch.allclose(values, expected, atol=1e-4)
