import torch


class Collector:
    def __init__(self, envs, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.envs = envs
        self.episode = torch.arange(envs)
        self.started = envs

    def _simulate(self):
        reward = torch.rand(self.envs, generator=self.generator)
        done = torch.rand(self.envs, generator=self.generator) < 0.2
        return reward, done

    def rollout(self, steps):
        records = []
        for _ in range(steps):
            reward, done = self._simulate()
            records.append({"reward": reward, "done": done, "episode": self.episode})
            if done.any():
                fresh = int(done.sum())
                self.episode[done] = torch.arange(self.started, self.started + fresh)
                self.started += fresh
        return {key: torch.stack([r[key] for r in records]) for key in records[0]}


def episode_returns(batch):
    count = int(batch["episode"].max()) + 1
    totals = torch.zeros(count)
    totals.index_add_(0, batch["episode"].flatten(), batch["reward"].flatten())
    return totals


batch = Collector(envs=3, seed=6).rollout(25)
returns = episode_returns(batch)

sums = []
for env in range(3):
    running = 0.0
    for reward, done in zip(batch["reward"][:, env].tolist(), batch["done"][:, env].tolist()):
        running += reward
        if done:
            sums.append(running)
            running = 0.0
    sums.append(running)
longest, expected = returns.max().item(), max(sums)
SILENTLY_WRONG = abs(longest - expected) > 1e-4
