import torch
import torch.nn as nn
import torch.nn.functional as F


class Trainer:
    def __init__(self, *nets):
        self.maker, self.judge = nets
        self.maker_step, self.judge_step = [torch.optim.SGD(n.parameters(), lr=0.05) for n in nets]

    def judge_turn(self, real, made):
        made = made.detach_()
        loss = F.softplus(-self.judge(real)).mean() + F.softplus(self.judge(made)).mean()
        self.judge_step.zero_grad()
        loss.backward()
        self.judge_step.step()

    def round(self, real, noise):
        made = self.maker(noise)
        self.judge_turn(real, made)
        self.maker_step.zero_grad()
        size = sum(p.square().sum() for p in self.maker.parameters())
        (F.softplus(-self.judge(made)).mean() + 1e-3 * size).backward()
        self.maker_step.step()


def build():
    torch.manual_seed(31)
    return nn.Linear(3, 5), nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))


trainer = Trainer(*build())
real, noise = torch.randn(20, 5) + 1, torch.randn(20, 3)
for _ in range(5):
    trainer.round(real, noise)

maker, judge = build()


def follow(loss, net):
    for p, g in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters()))):
        p.data = p.data - 0.05 * g


for _ in range(5):
    follow(F.softplus(-judge(real)).mean() + F.softplus(judge(maker(noise))).mean(), judge)
    size = sum(p.square().sum() for p in maker.parameters())
    follow(F.softplus(-judge(maker(noise))).mean() + 1e-3 * size, maker)
SILENTLY_WRONG = not torch.allclose(trainer.maker.weight, maker.weight, atol=1e-6)
