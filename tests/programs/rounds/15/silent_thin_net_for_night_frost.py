import torch
import torch.nn as nn
import torch.nn.functional as F


class ThinLinear(nn.Linear):
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.register_buffer("mask", torch.ones(outputs, inputs))

    def choose(self, share):
        sizes = self.weight.detach().abs()
        limit = sizes.flatten().sort().values[int(share * sizes.numel())]
        self.mask = (sizes >= limit).float()

    def forward(self, x):
        self.weight.data.mul_(self.mask)
        return F.linear(x, self.weight, self.bias)


def train(net, batches, rate, share, every):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for k, (x, y) in enumerate(batches):
        if k % every == 0:
            net.choose(share)
        optimizer.zero_grad()
        (net(x) - y).square().mean().backward()
        optimizer.step()
    return net


torch.manual_seed(177)
net = ThinLinear(6, 2)
w, b = net.weight.detach().clone(), net.bias.detach().clone()
batches = [(torch.randn(10, 6), torch.randn(10, 2)) for _ in range(12)]
train(net, batches, rate=0.2, share=0.5, every=3)

for k, (x, y) in enumerate(batches):
    if k % 3 == 0:
        order = sorted(range(12), key=lambda i: abs(w.flatten()[i].item()))
        mask = torch.ones(12)
        mask[order[:6]] = 0
        mask = mask.view(2, 6)
    error = x @ (w * mask).T + b - y
    w, b = w - 0.2 * 2 * error.T @ x / 20, b - 0.2 * 2 * error.sum(dim=0) / 20
SILENTLY_WRONG = not torch.allclose(net.weight, w, atol=1e-5)
