import torch
import torch.nn as nn
import torch.nn.functional as F


class PanGraph(nn.Module):
    """Cooks and pans pass their vectors along who bought what."""

    def __init__(self, bought, size):
        super().__init__()
        self.cooks = nn.Parameter(torch.randn(bought.shape[0], size))
        self.pans = nn.Parameter(torch.randn(bought.shape[1], size))
        share = bought.sum(1, keepdim=True).rsqrt() * bought * bought.sum(0).rsqrt()
        self.register_buffer("share", share)
        self.kept = None

    def spread(self):
        cooks = self.cooks + self.share @ self.pans
        pans = self.pans + self.share.T @ self.cooks
        return cooks / 2, pans / 2

    def loss(self, cook, liked, other):
        cooks, pans = self.spread()
        gap = (cooks[cook] * (pans[liked] - pans[other])).sum(dim=1)
        return -F.logsigmoid(gap).mean()

    @torch.no_grad()
    def scores(self, cook):
        if self.kept is None:
            self.kept = self.spread()
        cooks, pans = self.kept
        return cooks[cook] @ pans.T


def train(net, sales, epochs, rate=0.5):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    ranks = []
    for _ in range(epochs):
        optimizer.zero_grad()
        net.loss(*sales).backward()
        optimizer.step()
        scores = net.scores(sales[0])
        own = scores.gather(1, sales[1][:, None])
        ranks.append((scores > own).sum(dim=1).float().mean())
    return torch.stack(ranks)


torch.manual_seed(192)
bought = (torch.rand(6, 8) < 0.4).float()
bought[:, 0] = bought[0] = 1
net = PanGraph(bought, size=4)
c, p = net.cooks.detach().clone(), net.pans.detach().clone()
sales = (torch.arange(6).repeat(2), torch.randint(8, (12,)), torch.randint(8, (12,)))
ranks = train(net, sales, epochs=8)

expected = []
share = torch.diag(bought.sum(1) ** -0.5) @ bought @ torch.diag(bought.sum(0) ** -0.5)
for _ in range(8):
    c, p = c.requires_grad_(), p.requires_grad_()
    cooks, pans = (c + share @ p) / 2, (p + share.T @ c) / 2
    gap = torch.stack([cooks[a] @ (pans[b] - pans[d]) for a, b, d in zip(*sales)])
    slopes = torch.autograd.grad((1 + (-gap).exp()).log().mean(), [c, p])
    c, p = (c - 0.5 * slopes[0]).detach(), (p - 0.5 * slopes[1]).detach()
    table = ((c + share @ p) / 2) @ ((p + share.T @ c) / 2).T
    expected.append(sum((table[a] > table[a, b]).sum() for a, b in zip(*sales[:2])) / 12)
SILENTLY_WRONG = not torch.allclose(ranks, torch.stack(expected), atol=1e-4)
