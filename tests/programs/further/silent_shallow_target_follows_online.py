import copy

import torch
import torch.nn as nn

torch.manual_seed(0)
online = nn.Linear(3, 1)
target = copy.copy(online)
opt = torch.optim.SGD(online.parameters(), lr=0.5)
x = torch.randn(4, 3)
before = target(x).detach().clone()
loss = (online(x) - 1.0).square().mean()
loss.backward()
opt.step()
SILENTLY_WRONG = not torch.allclose(target(x), before)
