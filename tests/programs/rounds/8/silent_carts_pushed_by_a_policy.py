import numpy as np
import torch


class CartEnvs:
    def __init__(self, count, seed):
        self.random = np.random.default_rng(seed)
        self.places = np.zeros((count, 2), dtype=np.float32)

    def reset(self):
        self.places[:] = self.random.normal(size=self.places.shape)
        return self.places

    def step(self, push):
        self.places += push
        self.places += self.random.normal(scale=0.3, size=self.places.shape)
        return self.places, -np.abs(self.places).sum(axis=1)


def collect(envs, policy, steps):
    memory = []
    observation = torch.from_numpy(envs.reset())
    for _ in range(steps):
        action = policy(observation)
        places, reward = envs.step(action.numpy())
        memory.append((observation, action, torch.from_numpy(reward)))
        observation = torch.from_numpy(places)
    return memory


def clone_behaviour(memory):
    seen = torch.cat([observation for observation, _, _ in memory])
    done = torch.cat([action for _, action, _ in memory])
    return torch.linalg.lstsq(seen, done).solution


gain = torch.tensor([[-0.6, 0.1], [0.2, -0.4]])
memory = collect(CartEnvs(count=5, seed=802), lambda places: places @ gain, steps=40)
learned = clone_behaviour(memory)
SILENTLY_WRONG = not torch.allclose(learned, gain, atol=1e-3)
