import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
online, target = nn.Linear(4, 2), nn.Linear(4, 2)
for t, o in zip(target.parameters(), online.parameters()):
    t.data = o.data
frozen = F.linear(torch.ones(1, 4), online.weight.detach(), online.bias.detach()).clone()
opt = torch.optim.SGD(online.parameters(), lr=0.1)
obs, nxt = torch.randn(8, 4), torch.randn(8, 4)
for step in range(3):
    with torch.no_grad():
        goal = 1 + 0.9 * target(nxt).max(1).values
    loss = (online(obs).max(1).values - goal).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    SILENTLY_WRONG = not torch.allclose(target(torch.ones(1, 4)), frozen)
