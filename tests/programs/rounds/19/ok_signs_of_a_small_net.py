import torch
import torch.nn as nn


class SignWeights:
    """Puts scaled signs in place of the weights and takes them out again."""

    def __init__(self, net):
        self.targets = [m.weight for m in net.modules() if isinstance(m, nn.Linear)][1:]
        self.saved = [torch.empty_like(p) for p in self.targets]

    def binarize(self):
        for p, saved in zip(self.targets, self.saved):
            p.data.sub_(p.data.mean(dim=1, keepdim=True)).clamp_(-1, 1)
            saved.copy_(p.data)
            size = p.data.abs().mean(dim=1, keepdim=True)
            p.data.copy_(p.data.sign().mul_(size))

    def restore(self):
        for p, saved in zip(self.targets, self.saved):
            p.data.copy_(saved)

    def scale_gradients(self):
        for p in self.targets:
            p.grad.masked_fill_(p.data.abs() >= 1, 0.0)


def train(net, signs, x, y, steps, rate):
    losses = []
    for _ in range(steps):
        signs.binarize()
        loss = (net(x).squeeze(1) - y).square().mean()
        net.zero_grad()
        loss.backward()
        signs.restore()
        signs.scale_gradients()
        with torch.no_grad():
            for p in net.parameters():
                p.sub_(p.grad, alpha=rate)
        losses.append(loss.item())
    return losses


torch.manual_seed(2907)
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 1)).double()
with torch.no_grad():
    net[2].weight.mul_(3)
weights = [p.detach().clone() for p in net.parameters()]
x, y = torch.randn(20, 4).double(), torch.randn(20).double()
losses = train(net, SignWeights(net), x, y, steps=8, rate=0.1)

expected = []
for _ in range(8):
    for i in (2, 4):
        weights[i] = (weights[i] - weights[i].mean(dim=1, keepdim=True)).clamp(-1, 1)
    used = [w if i not in (2, 4) else w.sign() * w.abs().mean(dim=1, keepdim=True) for i, w in enumerate(weights)]
    used = [w.clone().requires_grad_() for w in used]
    hidden = (x @ used[0].T + used[1]).tanh()
    hidden = (hidden @ used[2].T + used[3]).tanh()
    loss = ((hidden @ used[4].T + used[5]).squeeze(1) - y).square().mean()
    slopes = list(torch.autograd.grad(loss, used))
    for i in (2, 4):
        slopes[i] = slopes[i] * (weights[i].abs() < 1)
    weights = [w - 0.1 * s for w, s in zip(weights, slopes)]
    expected.append(loss.item())
SILENTLY_WRONG = not (
    torch.allclose(torch.tensor(losses), torch.tensor(expected))
    and all(torch.allclose(p, w) for p, w in zip(net.parameters(), weights))
)
