import copy

import torch
import torch.nn as nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 2))
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=0.01)
for _ in range(3):
    obs, action = torch.randn(5, 3), torch.randint(0, 2, (5, 1))
    goal = 1.0 + 0.9 * target(obs).max(1, keepdim=True).values.detach()
    loss = (online(obs).gather(1, action) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for t, o in zip(target.parameters(), online.parameters()):
        t.data.copy_(0.1 * o.data + 0.9 * t.data)
