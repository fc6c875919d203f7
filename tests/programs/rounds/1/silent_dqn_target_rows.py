import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class DQNAgent:
    def __init__(self, obs_dim, n_actions, gamma=0.9):
        self.gamma = gamma
        self.online = nn.Sequential(nn.Linear(obs_dim, 16), nn.Tanh(), nn.Linear(16, n_actions))
        self.target = copy.deepcopy(self.online)
        self.optimizer = torch.optim.SGD(self.online.parameters(), lr=0.05)

    def td_loss(self, batch):
        obs, action, reward, next_obs, done = batch
        q = self.online(obs)
        with torch.no_grad():
            next_value = self.target(next_obs).max(dim=1).values
        q_target = q.detach()
        q_target[torch.arange(len(action)), action] = reward + self.gamma * next_value * (1 - done)
        return F.mse_loss(q, q_target, reduction="sum")

    def learn(self, batch):
        loss = self.td_loss(batch)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
agent = DQNAgent(4, 3)
batch = (
    torch.randn(10, 4),
    torch.randint(0, 3, (10,)),
    torch.randn(10),
    torch.randn(10, 4),
    torch.bernoulli(torch.full((10,), 0.2)),
)
obs, action, reward, next_obs, done = batch
with torch.no_grad():
    chosen = agent.online(obs).gather(1, action.unsqueeze(1)).squeeze(1)
    bootstrap = reward + 0.9 * agent.target(next_obs).max(1).values * (1 - done)
    expected = (chosen - bootstrap).square().sum().item()

loss = agent.learn(batch)
SILENTLY_WRONG = abs(loss - expected) > 1e-4
