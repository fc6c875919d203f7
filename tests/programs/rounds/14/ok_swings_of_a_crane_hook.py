from collections import deque

import numpy as np
import torch


class Crane:
    def __init__(self, seed):
        self.dice = np.random.default_rng(seed)
        self.state = np.zeros(4, dtype=np.float32)

    def reset(self):
        self.state[:] = self.dice.normal(size=4) * 0.1
        return self.state

    def step(self, push):
        self.state[:2] += 0.1 * self.state[2:]
        self.state[2:] += 0.1 * np.array([push, -push - 4 * self.state[1]], dtype=np.float32)
        return self.state, -float(np.abs(self.state[:2]).sum())


class Memory:
    def __init__(self, size):
        self.rows = deque(maxlen=size)

    def add(self, before, push, reward, after):
        self.rows.append((before, push, reward, torch.tensor(after)))

    def batch(self, places):
        before, push, reward, after = zip(*(self.rows[i] for i in places))
        return torch.stack(before), torch.tensor(push), torch.tensor(reward), torch.stack(after)


def collect(crane, memory, steps):
    state = torch.tensor(crane.reset())
    for k in range(steps):
        push = 0.5 if k % 7 < 3 else -0.4
        after, reward = crane.step(push)
        memory.add(state, push, reward, after)
        state = torch.tensor(after)


crane, memory = Crane(seed=4), Memory(20)
collect(crane, memory, steps=30)
before, push, reward, after = memory.batch([0, 5, 11, 19])

x = (np.random.default_rng(4).normal(size=4) * 0.1).astype(np.float32)
path = [x]
for k in range(30):
    p = 0.5 if k % 7 < 3 else -0.4
    place = x[:2] + np.float32(0.1) * x[2:]
    x = np.concatenate([place, x[2:] + 0.1 * np.array([p, -p - 4 * place[1]], dtype=np.float32)]).astype(np.float32)
    path.append(x)
chosen = [10, 15, 21, 29]
right = torch.allclose(before, torch.tensor(np.stack([path[k] for k in chosen])), atol=1e-5)
right = right and torch.allclose(after, torch.tensor(np.stack([path[k + 1] for k in chosen])), atol=1e-5)
expected = torch.tensor([-float(np.abs(path[k + 1][:2]).sum()) for k in chosen])
SILENTLY_WRONG = not (right and torch.allclose(reward, expected, atol=1e-5))
