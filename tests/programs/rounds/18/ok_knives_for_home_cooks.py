import torch
import torch.nn as nn


class KnifeGraph(nn.Module):
    """Cooks and knives pass their vectors along who bought what."""

    def __init__(self, bought, size):
        super().__init__()
        self.cooks = nn.Parameter(torch.randn(bought.shape[0], size))
        self.knives = nn.Parameter(torch.randn(bought.shape[1], size))
        self.register_buffer("share", bought / bought.sum(1, keepdim=True))
        self.kept = None

    def spread(self):
        return self.cooks + self.share @ self.knives, self.knives

    def loss(self, cook, knife, stars):
        self.kept = None
        cooks, knives = self.spread()
        return ((cooks[cook] * knives[knife]).sum(dim=1) - stars).square().mean()

    @torch.no_grad()
    def scores(self, cook):
        if self.kept is None:
            self.kept = self.spread()
        cooks, knives = self.kept
        return cooks[cook] @ knives.T


def train(net, cook, knife, stars, epochs, rate=0.05):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    best = []
    for _ in range(epochs):
        optimizer.zero_grad()
        net.loss(cook, knife, stars).backward()
        optimizer.step()
        best.append(torch.stack([net.scores(c).max() for c in range(4)]))
    return torch.stack(best)


torch.manual_seed(292)
bought = (torch.rand(4, 6) < 0.5).float()
bought[:, 0] = 1
net = KnifeGraph(bought, size=3)
c, k = net.cooks.detach().clone(), net.knives.detach().clone()
cook, knife, stars = torch.arange(4).repeat(3), torch.randint(6, (12,)), torch.rand(12) * 5
best = train(net, cook, knife, stars, epochs=6)

expected, share = [], bought / bought.sum(1, keepdim=True)
for _ in range(6):
    full = c + share @ k
    error = 2 * ((full[cook] * k[knife]).sum(1) - stars) / 12
    by_full = torch.zeros(4, 3).index_add(0, cook, error[:, None] * k[knife])
    by_knife = torch.zeros(6, 3).index_add(0, knife, error[:, None] * full[cook])
    c, k = c - 0.05 * by_full, k - 0.05 * (by_knife + share.T @ by_full)
    expected.append(((c + share @ k) @ k.T).amax(dim=1))
SILENTLY_WRONG = not torch.allclose(best, torch.stack(expected), atol=1e-3)
