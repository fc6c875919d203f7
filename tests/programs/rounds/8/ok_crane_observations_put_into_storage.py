import numpy as np
import torch


class CraneEnv:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.state = np.zeros(3, dtype=np.float32)

    def reset(self):
        self.state[:] = self.random.normal(size=3)
        return self.state

    def step(self, force):
        self.state *= 0.9
        self.state += force
        self.state += self.random.normal(scale=0.2, size=3)
        return self.state


class Storage:
    def __init__(self, steps):
        self.seen = torch.zeros(steps, 3)
        self.done = torch.zeros(steps, 3)
        self.at = 0

    def add(self, observation, action):
        self.seen[self.at].copy_(observation)
        self.done[self.at].copy_(action)
        self.at += 1


gain = torch.tensor([[-0.5, 0.1, 0.0], [0.0, -0.3, 0.2], [0.1, 0.0, -0.4]])
env, storage = CraneEnv(seed=852), Storage(steps=60)
observation = torch.from_numpy(env.reset())
for _ in range(60):
    action = observation @ gain
    storage.add(observation, action)
    observation = torch.from_numpy(env.step(action.numpy()))

learned = torch.linalg.lstsq(storage.seen, storage.done).solution
SILENTLY_WRONG = not torch.allclose(learned, gain, atol=1e-3)
