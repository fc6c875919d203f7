import copy

import torch
from torch import nn
from torch.nn.functional import softplus


class Contest:
    """Two players in turn; each clears its own slopes before its turn."""

    def __init__(self, forger, judge, rate):
        self.forger, self.judge = forger, judge
        self.forger_steps = torch.optim.SGD(forger.parameters(), lr=rate)
        self.judge_steps = torch.optim.SGD(judge.parameters(), lr=rate)

    def turn(self, curves, noise):
        self.forger_steps.zero_grad()
        forged = self.forger(noise)
        softplus(-self.judge(forged)).mean().backward()
        self.forger_steps.step()

        self.judge_steps.zero_grad()
        loss = softplus(-self.judge(curves)).mean() + softplus(self.judge(self.forger(noise).detach())).mean()
        loss.backward()
        self.judge_steps.step()
        return loss.item()


torch.manual_seed(7)
forger = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 9))
judge = nn.Sequential(nn.Linear(9, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
twins = copy.deepcopy((forger, judge))
contest = Contest(forger, judge, rate=0.2)
days = torch.arange(9) / 9
batches = [(torch.exp(-days * (1 + torch.rand(15, 1))), torch.randn(15, 3)) for _ in range(25)]
for curves, noise in batches:
    loss = contest.turn(curves, noise)
print("judge loss", round(loss, 4))

twin_forger, twin_judge = twins
for curves, noise in batches:
    for player in twins:
        if player is twin_forger:
            error = softplus(-twin_judge(twin_forger(noise))).mean()
        else:
            error = softplus(-twin_judge(curves)).mean() + softplus(twin_judge(twin_forger(noise).detach())).mean()
        own = list(player.parameters())
        moved = [p.detach() - 0.2 * s for p, s in zip(own, torch.autograd.grad(error, own))]
        nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(moved), own)
SILENTLY_WRONG = not torch.allclose(judge(curves), twin_judge(curves), atol=1e-3)
