import torch
from torch import nn


class Recipe:
    """Steps after every fourth batch; each epoch starts its groups of four anew."""

    def __init__(self, net, lr, accumulate):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=lr)
        self.accumulate = accumulate

    def train(self, batches, epochs):
        shown = []
        running = 0.0
        for epoch in range(epochs):
            for idx, (x, delay) in enumerate(batches):
                loss = (self.net(x).squeeze(1) - delay).square().mean() / self.accumulate
                loss.backward()
                running += loss.item()
                if (idx + 1) % self.accumulate == 0:
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                    shown.append(running)
                    running = 0.0
        return shown


torch.manual_seed(20)
x = torch.randn(60, 4)
delay = 3 + x @ torch.tensor([1.5, -0.7, 0.2, 0.0]) + 0.3 * torch.randn(60)
batches = list(zip(x.split(6), delay.split(6)))
net = nn.Linear(4, 1)
w, b = net.weight.detach().squeeze(0).clone(), net.bias.detach().clone()
shown = Recipe(net, lr=0.1, accumulate=4).train(batches, epochs=5)
print("loss of each step", [round(v, 3) for v in shown])

expected = []
for epoch in range(5):
    for group in (slice(0, 24), slice(24, 48)):
        off = x[group] @ w + b - delay[group]
        expected.append(off.square().mean())
        w, b = w - 0.2 * (off[:, None] * x[group]).mean(dim=0), b - 0.2 * off.mean()
SILENTLY_WRONG = not torch.allclose(torch.tensor(shown), torch.stack(expected), atol=1e-3)
