import torch
from torch import nn
import torch.nn.functional as F


class StampJudge:
    """One judge for forgeries of two workshops; the gradients of both losses make one step."""

    def __init__(self, marks, lr):
        self.judge = nn.Linear(marks, 1)
        self.optimizer = torch.optim.SGD(self.judge.parameters(), lr=lr)

    def backward_judge(self, real, forged):
        up = F.binary_cross_entropy_with_logits(self.judge(real), torch.ones(len(real), 1))
        down = F.binary_cross_entropy_with_logits(self.judge(forged.detach()), torch.zeros(len(forged), 1))
        loss = up + down
        loss.backward()
        return loss.item()

    def step(self, real, first, second):
        self.optimizer.zero_grad()
        losses = self.backward_judge(real, first), self.backward_judge(real, second)
        self.optimizer.step()
        return losses


torch.manual_seed(36)
judge = StampJudge(marks=4, lr=0.2)
w, b = judge.judge.weight.detach().clone()[0], judge.judge.bias.detach().clone()
rounds = []
for _ in range(8):
    real = torch.randn(20, 4) + 1
    rounds.append((real, torch.randn(20, 4), 0.5 * torch.randn(20, 4) - 1))
for real, first, second in rounds:
    losses = judge.step(real, first, second)
print("losses", losses)

for real, first, second in rounds:
    up = 2 * (torch.sigmoid(real @ w + b) - 1)
    one, two = torch.sigmoid(first @ w + b), torch.sigmoid(second @ w + b)
    gw = (up @ real + one @ first + two @ second) / 20
    gb = up.mean() + one.mean() + two.mean()
    w, b = w - 0.2 * gw, b - 0.2 * gb
SILENTLY_WRONG = not torch.allclose(judge.judge.weight[0], w, atol=1e-4)
