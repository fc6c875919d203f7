import random
from collections import deque

import numpy as np
import torch
from torch import nn


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 24), nn.ReLU(inplace=True))
        self.value, self.advantage = nn.Linear(24, 1), nn.Linear(24, 2)

    def forward(self, x):
        x = self.body(x)
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(1, keepdim=True)


class Pole:
    def reset(self):
        self.position = np.random.uniform(-0.05, 0.05, 4).astype(np.float32)
        return self.position.copy()

    def step(self, action):
        self.position[1] += 0.1 if action else -0.1
        self.position[0] += 0.02 * self.position[1]
        return self.position.copy(), 1.0, bool(abs(self.position[0]) > 0.1)


policy, target = Dueling(), Dueling()
target.load_state_dict(policy.state_dict())
target.eval()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3, amsgrad=True)
memory = deque(maxlen=200)
pole, losses = Pole(), []
# %%
state = torch.from_numpy(pole.reset()).unsqueeze(0)
for _ in range(40):
    if random.random() < 0.3:
        action = torch.tensor([[random.randrange(2)]])
    else:
        with torch.no_grad():
            action = policy(state).max(1).indices.view(1, 1)
    observed, reward, ended = pole.step(action.item())
    after = None if ended else torch.from_numpy(observed).unsqueeze(0)
    memory.append((state, action, torch.tensor([reward]), after))
    state = torch.from_numpy(pole.reset()).unsqueeze(0) if after is None else after
# %%
for _ in range(3):
    states, actions, rewards, afters = zip(*random.sample(memory, 16), strict=True)
    alive = torch.tensor([after is not None for after in afters])
    chosen = policy(torch.cat(states)).gather(1, torch.cat(actions))
    values = torch.zeros(16)
    with torch.no_grad():
        values[alive] = target(torch.cat([after for after in afters if after is not None])).max(1).values
    wanted = values.mul_(0.99).add_(torch.cat(rewards))
    loss = nn.functional.smooth_l1_loss(chosen, wanted.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(policy.parameters(), 100)
    optimizer.step()
    newest, kept = policy.state_dict(), target.state_dict()
    for key in newest:
        kept[key] = newest[key] * 0.05 + kept[key] * 0.95
    target.load_state_dict(kept)
    losses.append(loss.item())
