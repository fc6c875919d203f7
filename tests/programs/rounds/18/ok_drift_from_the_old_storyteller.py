import torch
import torch.nn as nn
import torch.nn.functional as F


class Lend:
    """Lends the old weights to the storyteller for the time of a block."""

    def __init__(self, net, old):
        self.net, self.old = net, old

    def __enter__(self):
        self.kept = [p.detach().clone() for p in self.net.parameters()]
        self.fill(self.old)

    def __exit__(self, *error):
        self.fill(self.kept)

    @torch.no_grad()
    def fill(self, tensors):
        for p, t in zip(self.net.parameters(), tensors):
            p.copy_(t)


def words(net, tales):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = net(tales)
    return F.log_softmax(found.float(), dim=-1)


def drift(net, old, tales):
    new = words(net, tales)
    with Lend(net, old):
        past = words(net, tales)
    return (new.exp() * (new - past)).sum(dim=-1).mean()


torch.manual_seed(28)
net = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 4))
old = [p.detach().clone() for p in net.parameters()]
tales = torch.randn(12, 5)
drifts = []
for push in torch.randn(3, 1):
    with torch.no_grad():
        net[2].weight[0].add_(push)
    drifts.append(drift(net, old, tales).detach())

torch.manual_seed(28)
[nn.Linear(5, 10), nn.Linear(10, 4)]
tales, pushes = torch.randn(12, 5), torch.randn(3, 1)
expected = []
for many in range(1, 4):
    moved = old[2].clone()
    moved[0] += pushes[:many].sum()
    inner = torch.tanh(tales @ old[0].T + old[1])
    new, past = (inner @ moved.T + old[3]).softmax(-1), (inner @ old[2].T + old[3]).softmax(-1)
    expected.append((new * (new.log() - past.log())).sum(-1).mean())
SILENTLY_WRONG = not torch.allclose(torch.stack(drifts), torch.stack(expected), rtol=0.1, atol=1e-2)
