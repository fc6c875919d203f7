import torch
import torch.nn as nn


class ThinLinear(nn.Linear):
    def prune(self, share):
        sizes = self.weight.detach().abs()
        limit = sizes.flatten().sort().values[int(share * sizes.numel())]
        self.register_buffer("mask", (sizes >= limit).float())
        self.apply_mask()

    def apply_mask(self):
        self.weight.data.mul_(self.mask)


def train(net, batches, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for x, y in batches:
        optimizer.zero_grad()
        (net(x) - y).square().mean().backward()
        optimizer.step()
        net.apply_mask()
    return net


torch.manual_seed(178)
net = ThinLinear(5, 3)
w, b = net.weight.detach().clone(), net.bias.detach().clone()
batches = [(torch.randn(8, 5), torch.randn(8, 3)) for _ in range(10)]
net.prune(share=0.6)
train(net, batches, rate=0.3)

order = sorted(range(15), key=lambda i: abs(w.flatten()[i].item()))
kept = sorted(order[9:])
values = [w.flatten()[i] for i in kept]
for x, y in batches:
    full = torch.stack([values[kept.index(i)] if i in kept else torch.zeros(()) for i in range(15)])
    error = x @ full.view(3, 5).T + b - y
    slope = (2 * error.T @ x / 24).flatten()
    values = [v - 0.3 * slope[i] for v, i in zip(values, kept)]
    b = b - 0.3 * 2 * error.sum(dim=0) / 24
right = torch.allclose(net.weight.flatten()[kept], torch.stack(values), atol=1e-5)
gone = [i for i in range(15) if i not in kept]
SILENTLY_WRONG = not (right and bool((net.weight.flatten()[gone] == 0).all()))
