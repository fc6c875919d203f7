import copy

import torch
from torch import nn


class Mint(nn.Module):
    """Strikes faces of coins, and has an assayer who tells them from old ones."""

    def __init__(self):
        super().__init__()
        self.die = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 3))
        self.assayer = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))

    def loss(self, which, old, noise):
        if which == 0:
            return nn.functional.softplus(-self.assayer(self.die(noise))).mean()
        true = nn.functional.softplus(-self.assayer(old)).mean()
        return true + nn.functional.softplus(self.assayer(self.die(noise).detach())).mean()


def fit(mint, batches, lr):
    optimizers = [torch.optim.SGD(part.parameters(), lr=lr) for part in (mint.die, mint.assayer)]
    for old, noise in batches:
        for which, optimizer in enumerate(optimizers):
            loss = mint.loss(which, old, noise)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


torch.manual_seed(17)
batches = [(torch.randn(16, 3) * 0.5 + 1, torch.randn(16, 2)) for _ in range(30)]
mint = Mint()
twin = copy.deepcopy(mint)
fit(mint, batches, lr=0.1)
with torch.no_grad():
    verdict = torch.sigmoid(mint.assayer(batches[0][0]))
print("old coins held for true", verdict.mean().item())

for old, noise in batches:
    for which, part in enumerate((twin.die, twin.assayer)):
        grads = torch.autograd.grad(twin.loss(which, old, noise), list(part.parameters()))
        for p, g in zip(part.parameters(), grads, strict=True):
            p.data -= 0.1 * g
SILENTLY_WRONG = not torch.allclose(verdict, torch.sigmoid(twin.assayer(batches[0][0])), atol=1e-3)
