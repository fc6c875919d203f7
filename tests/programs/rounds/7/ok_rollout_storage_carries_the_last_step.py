import torch


class RolloutStorage:
    def __init__(self, steps, envs):
        self.obs = torch.zeros(steps + 1, envs)
        self.rewards = torch.zeros(steps, envs)
        self.alive = torch.ones(steps + 1, envs)
        self.returns = torch.zeros(steps + 1, envs)
        self.at, self.steps = 0, steps

    def insert(self, obs, reward, alive):
        self.obs[self.at + 1].copy_(obs)
        self.rewards[self.at].copy_(reward)
        self.alive[self.at + 1].copy_(alive)
        self.at = (self.at + 1) % self.steps

    def after_update(self):
        self.obs[0].copy_(self.obs[-1])
        self.alive[0].copy_(self.alive[-1])

    def compute_returns(self, value, gamma):
        self.returns[-1] = value
        for t in reversed(range(self.steps)):
            self.returns[t] = self.rewards[t] + gamma * self.alive[t + 1] * self.returns[t + 1]
        return self.returns[:-1]


torch.manual_seed(66)
envs, total, gamma = 3, 20, 0.95
noise, stop = torch.randn(total, envs), (torch.rand(total, envs) > 0.15).float()
storage = RolloutStorage(steps=5, envs=envs)
log = []
for t in range(total):
    obs = storage.obs[storage.at]
    reached = 0.8 * obs * stop[t] + noise[t]
    storage.insert(reached, reached.abs(), stop[t])
    if storage.at == 0:
        log.append(storage.compute_returns(storage.obs[-1] * 0.5, gamma).sum().item())
        storage.after_update()

path = [torch.zeros(envs)]
for t in range(total):
    path.append(0.8 * path[-1] * stop[t] + noise[t])
expected = []
for start in range(0, total, 5):
    tail, result = path[start + 5] * 0.5, 0.0
    for t in range(start + 4, start - 1, -1):
        tail = path[t + 1].abs() + gamma * stop[t] * tail
        result += tail.sum().item()
    expected.append(result)
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(log, expected)) > 1e-3
