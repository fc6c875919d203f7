import torch
import torch.nn as nn


class Mixup:
    def __init__(self, lam):
        self.lam = lam

    def __call__(self, x, target):
        x_flipped = x.flip(0).mul_(1.0 - self.lam)
        x.mul_(self.lam).add_(x_flipped)
        return x, target * self.lam + target.flip(0) * (1.0 - self.lam)


torch.manual_seed(0)
net, mixup = nn.Linear(6, 3), Mixup(0.7)
for _ in range(2):
    x, y = torch.rand(4, 6), torch.eye(3)[torch.randint(0, 3, (4,))]
    x, y = mixup(x, y)
    loss = torch.sum(-y * net(x).log_softmax(-1), dim=-1).mean()
    loss.backward()
