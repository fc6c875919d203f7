import torch
from torch import nn
import torch.nn.functional as F


class WaveGan:
    """Imitates hourly wave heights of a buoy, six hours at a time."""

    def __init__(self, lr):
        self.maker = nn.Linear(2, 6)
        self.judge = nn.Linear(6, 1)
        self.maker_opt = torch.optim.SGD(self.maker.parameters(), lr=lr)
        self.judge_opt = torch.optim.SGD(self.judge.parameters(), lr=lr)

    def step(self, seen, noise):
        made = self.maker(noise)
        real = F.binary_cross_entropy_with_logits(self.judge(seen), torch.ones(len(seen), 1))
        fake = F.binary_cross_entropy_with_logits(self.judge(made.detach()), torch.zeros(len(made), 1))
        judge_loss = real + fake
        judge_loss.backward()
        self.judge_opt.step()

        self.maker.zero_grad()
        maker_loss = F.binary_cross_entropy_with_logits(self.judge(made), torch.ones(len(made), 1))
        maker_loss.backward()
        self.maker_opt.step()
        return judge_loss.item(), maker_loss.item()


torch.manual_seed(8)
gan = WaveGan(lr=0.1)
w, b = gan.judge.weight.detach().clone()[0], gan.judge.bias.detach().clone()
v, c = gan.maker.weight.detach().clone(), gan.maker.bias.detach().clone()
heights = 1.5 + 0.3 * torch.randn(320, 6).cumsum(dim=1)
noises = torch.randn(10, 32, 2)
for k in range(10):
    losses = gan.step(heights[32 * k : 32 * k + 32], noises[k])
print("losses of judge and maker", losses)

for k in range(10):
    seen, noise = heights[32 * k : 32 * k + 32], noises[k]
    made = noise @ v.T + c
    up = torch.sigmoid(seen @ w + b) - 1
    down = torch.sigmoid(made @ w + b)
    w, b = w - 0.1 * (up @ seen + down @ made) / 32, b - 0.1 * (up.mean() + down.mean())
    pull = (torch.sigmoid(made @ w + b) - 1)[:, None] * w / 32
    v, c = v - 0.1 * pull.T @ noise, c - 0.1 * pull.sum(dim=0)
SILENTLY_WRONG = not torch.allclose(gan.judge.weight[0], w, atol=1e-4)
