import torch
import torch.nn as nn


class PointEnv:
    def __init__(self):
        self.state = torch.tensor([0.0, 1.0])

    def step(self, action):
        self.state += torch.tensor([0.1, -0.1]) * action
        return self.state, -self.state.norm().item()


torch.manual_seed(0)
env, value = PointEnv(), nn.Linear(2, 1)
state = env.state
replay, honest = [], []
for t in range(4):
    kept = state.clone()
    next_state, reward = env.step(1.0)
    replay.append((state, reward, next_state))
    honest.append((kept, reward, next_state.clone()))
    state = next_state
with torch.no_grad():
    errors = [r + 0.9 * value(n) - value(s) for s, r, n in replay]
    right = [r + 0.9 * value(n) - value(s) for s, r, n in honest]
SILENTLY_WRONG = any(abs(a.item() - b.item()) > 1e-4 for a, b in zip(errors, right))
