import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class DoubleDQN:
    def __init__(self, obs_dim, n_actions):
        self.online = nn.Sequential(nn.Linear(obs_dim, 12), nn.ReLU(), nn.Linear(12, n_actions))
        self.target = copy.deepcopy(self.online)
        self.optimizer = torch.optim.SGD(self.online.parameters(), lr=0.05)

    def learn(self, obs, action, reward, next_obs, done):
        rows = torch.arange(len(action))
        q = self.online(obs)
        with torch.no_grad():
            best = self.online(next_obs).argmax(dim=1)
            future = self.target(next_obs)[rows, best]
            future[done] = 0.0
        q_target = q.detach().clone()
        q_target[rows, action] = reward + 0.9 * future
        loss = F.mse_loss(q, q_target, reduction="sum")
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.soft_update(0.1)
        return loss.item()

    @torch.no_grad()
    def soft_update(self, tau):
        for slow, fast in zip(self.target.parameters(), self.online.parameters()):
            slow.lerp_(fast, tau)


torch.manual_seed(0)
agent = DoubleDQN(3, 4)
online, target = copy.deepcopy(agent.online), copy.deepcopy(agent.target)
losses, expected = [], []
for _ in range(3):
    obs, next_obs = torch.randn(8, 3), torch.randn(8, 3)
    action, reward, done = torch.randint(0, 4, (8,)), torch.randn(8), torch.rand(8) < 0.25
    losses.append(agent.learn(obs, action, reward, next_obs, done))

    chosen = online(obs).gather(1, action[:, None])[:, 0]
    pick = online(next_obs).argmax(1, keepdim=True)
    goal = reward + 0.9 * target(next_obs).gather(1, pick)[:, 0] * (~done).float()
    loss = (chosen - goal.detach()).pow(2).sum()
    expected.append(loss.item())
    grads = torch.autograd.grad(loss, list(online.parameters()))
    moved = {n: p - 0.05 * g for (n, p), g in zip(online.named_parameters(), grads)}
    online.load_state_dict(moved)
    old = target.state_dict()
    target.load_state_dict({n: 0.9 * old[n] + 0.1 * moved[n] for n in moved})
SILENTLY_WRONG = any(abs(a - b) > 1e-3 for a, b in zip(losses, expected))
