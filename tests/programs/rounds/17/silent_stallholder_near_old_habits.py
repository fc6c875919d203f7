import torch
import torch.nn as nn
import torch.nn.functional as F


class Stall(nn.Module):
    def __init__(self, weathers, goods):
        super().__init__()
        self.taste = nn.Linear(weathers, goods, dtype=torch.float64)

    def forward(self, sky):
        return F.log_softmax(self.taste(sky), dim=1)


class Tuner:
    def __init__(self, policy, reference, pull, rate):
        self.policy, self.reference, self.pull = policy, reference, pull
        self.optimizer = torch.optim.SGD(policy.parameters(), lr=rate)

    def step(self, sky, profit):
        logp = self.policy(sky)
        with torch.no_grad():
            old = self.reference(sky)
        p = logp.exp()
        gain = (p * profit).sum(1).mean()
        away = (p * (logp - old)).sum(1).mean()
        self.optimizer.zero_grad()
        (self.pull * away - gain).backward()
        self.optimizer.step()
        return gain.item(), away.item()


torch.manual_seed(15)
stall = Stall(3, 5)
first = torch.cat([stall.taste.weight.detach(), stall.taste.bias.detach()[:, None]], dim=1).clone()
sky = torch.eye(3, dtype=torch.float64)
profit = 4 * torch.rand(3, 5, dtype=torch.float64)
tuner = Tuner(stall, stall, pull=0.8, rate=0.5)
for _ in range(40):
    gain, away = tuner.step(sky, profit)

ones = torch.cat([sky, torch.ones(3, 1, dtype=torch.float64)], dim=1)
old, w = torch.softmax(ones @ first.T, 1).log(), first
for _ in range(40):
    p = torch.softmax(ones @ w.T, 1)
    value = profit - 0.8 * (p.log() - old)
    slope = p * (value - (p * value).sum(1, keepdim=True)) / 3
    w = w + 0.5 * slope.T @ ones
SILENTLY_WRONG = not torch.allclose(stall(sky), torch.log_softmax(ones @ w.T, 1))
