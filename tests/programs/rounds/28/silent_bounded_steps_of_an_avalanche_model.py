import math

import torch
from torch import nn


class Trainer:
    def __init__(self, net, lr, max_grad_norm=None):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=lr)
        self.max_grad_norm = max_grad_norm

    def fit(self, batches, epochs):
        history = []
        for _ in range(epochs):
            for slopes, mass in batches:
                loss = (self.net(slopes).squeeze(1) - mass).square().mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                if self.max_grad_norm is not None:
                    nn.utils.clip_grad_norm_(self.net.parameters(), self.max_grad_norm)
                history.append(loss.item())
        return history


torch.manual_seed(16)
slopes = torch.randn(40, 3)
mass = slopes @ torch.tensor([1.0, 2.0, -1.0])
mass[::9] *= 30
batches = list(zip(slopes.split(10), mass.split(10), strict=True))
net = nn.Linear(3, 1)
w, b = net.weight.detach().squeeze(0).clone(), net.bias.detach().clone()
history = Trainer(net, lr=0.05, max_grad_norm=1.0).fit(batches, epochs=6)
print("loss", history[0], history[-1])

for _ in range(6):
    for x, y in batches:
        off = 2 * (x @ w + b - y) / len(x)
        gw, gb = off @ x, off.sum()
        scale = min(1.0, 1.0 / (math.sqrt(gw.square().sum() + gb.square()) + 1e-6))
        w, b = w - 0.05 * scale * gw, b - 0.05 * scale * gb
SILENTLY_WRONG = not torch.allclose(net.weight.squeeze(0), w, atol=1e-4)
