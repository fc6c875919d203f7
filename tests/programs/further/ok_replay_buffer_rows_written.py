import torch
import torch.nn as nn


class ReplayBuffer:
    def __init__(self, size, width):
        self.obs, self.reward, self.at, self.full = torch.zeros(size, width), torch.zeros(size), 0, 0

    def add(self, obs, reward):
        self.obs[self.at] = obs
        self.reward[self.at] = reward
        self.at = (self.at + 1) % len(self.obs)
        self.full = min(self.full + 1, len(self.obs))

    def sample(self, n):
        rows = torch.randint(0, self.full, (n,))
        return self.obs[rows], self.reward[rows]


torch.manual_seed(0)
buffer, critic = ReplayBuffer(6, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
state = torch.zeros(3)
for step in range(10):
    state += 0.1 * torch.randn(3)
    buffer.add(state, state.sum())
    if step >= 4:
        obs, reward = buffer.sample(4)
        loss = (critic(obs).squeeze(-1) - reward).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
