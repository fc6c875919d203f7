import copy

import torch
from torch import nn
from torch.nn.functional import softplus


def make_players():
    forger = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 12))
    judge = nn.Sequential(nn.Linear(12, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    return forger, judge


def forger_loss(forger, judge, curves, noise):
    return softplus(-judge(forger(noise))).mean()


def judge_loss(forger, judge, curves, noise):
    return softplus(-judge(curves)).mean() + softplus(judge(forger(noise).detach())).mean()


class Workshop:
    def __init__(self, forger, judge, rate):
        self.forger, self.judge = forger, judge
        self.turns = [
            (forger_loss, torch.optim.SGD(forger.parameters(), lr=rate)),
            (judge_loss, torch.optim.SGD(judge.parameters(), lr=rate)),
        ]

    def train(self, batches):
        for curves, noise in batches:
            for loss_of, optimizer in self.turns:
                loss = loss_of(self.forger, self.judge, curves, noise)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
        return loss.item()


torch.manual_seed(6)
forger, judge = make_players()
twins = copy.deepcopy((forger, judge))
hours = torch.arange(12) / 12
batches = []
for _ in range(30):
    phase = torch.rand(20, 1)
    batches.append((torch.sin(6.28 * (2 * hours + phase)), torch.randn(20, 4)))
print("judge loss", round(Workshop(forger, judge, 0.2).train(batches), 4))

for curves, noise in batches:
    for loss_of, player in zip((forger_loss, judge_loss), twins):
        own = list(player.parameters())
        slopes = torch.autograd.grad(loss_of(*twins, curves, noise), own)
        with torch.no_grad():
            for weight, slope in zip(own, slopes):
                weight -= 0.2 * slope
probe = torch.sin(6.28 * (hours + torch.linspace(0, 1, 5)[:, None]))
SILENTLY_WRONG = not torch.allclose(judge(probe), twins[1](probe), atol=1e-3)
