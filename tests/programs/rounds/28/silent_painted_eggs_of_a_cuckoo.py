import torch
from torch import nn


class Cuckoo:
    """A painter of eggs against a host who throws strange ones out of the nest."""

    def __init__(self, painter, host, lr=0.05):
        self.painter, self.host = painter, host
        self.optim_painter = torch.optim.SGD(painter.parameters(), lr=lr)
        self.optim_host = torch.optim.SGD(host.parameters(), lr=lr)
        self.criterion = nn.BCEWithLogitsLoss()

    def step(self, eggs, noise):
        own, strange = torch.ones(len(eggs), 1), torch.zeros(len(eggs), 1)
        painted = self.painter(noise)
        loss_own = self.criterion(self.host(eggs), own)
        loss_own.backward()
        loss_strange = self.criterion(self.host(painted.detach()), strange)
        loss_strange.backward()
        self.optim_host.step()

        self.painter.zero_grad()
        loss_painter = self.criterion(self.host(painted), own)
        loss_painter.backward()
        self.optim_painter.step()
        return loss_own.item() + loss_strange.item(), loss_painter.item()


torch.manual_seed(11)
painter, host = nn.Linear(2, 4), nn.Linear(4, 1)
pw, pb, hw, hb = (p.detach().clone().requires_grad_() for m in (painter, host) for p in m.parameters())
nests = [(torch.randn(12, 4) + 0.7, torch.randn(12, 2)) for _ in range(25)]
cuckoo = Cuckoo(painter, host)
losses = [cuckoo.step(eggs, noise) for eggs, noise in nests]
print("last losses", losses[-1])

softplus = nn.functional.softplus
for eggs, noise in nests:
    painted = noise @ pw.T + pb
    judged = softplus(-(eggs @ hw.T + hb)).mean() + softplus(painted.detach() @ hw.T + hb).mean()
    gw, gb = torch.autograd.grad(judged, (hw, hb))
    hw, hb = (hw - 0.05 * gw).detach().requires_grad_(), (hb - 0.05 * gb).detach().requires_grad_()
    fooled = softplus(-(painted @ hw.T + hb)).mean()
    gw, gb = torch.autograd.grad(fooled, (pw, pb))
    pw, pb = (pw - 0.05 * gw).detach().requires_grad_(), (pb - 0.05 * gb).detach().requires_grad_()
SILENTLY_WRONG = not torch.allclose(host.weight, hw, atol=1e-4)
