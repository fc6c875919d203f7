import numpy as np
import torch
import torch.nn as nn


class Env:
    def __init__(self):
        self.state = np.zeros(3, dtype=np.float32)

    def step(self):
        self.state += np.array([1.0, 2.0, 3.0], dtype=np.float32)
        return self.state


torch.manual_seed(0)
value, env = nn.Linear(3, 1), Env()
rollout = []
for _ in range(3):
    obs = torch.from_numpy(env.step())
    rollout.append(obs)
predicted = value(torch.stack(rollout)).squeeze(-1)
steps = torch.arange(1.0, 4.0).unsqueeze(1) * torch.tensor([1.0, 2.0, 3.0])
SILENTLY_WRONG = not torch.allclose(predicted, value(steps).squeeze(-1))
