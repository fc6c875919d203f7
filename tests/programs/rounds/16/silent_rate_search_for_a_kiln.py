import torch
import torch.nn as nn


class RateSearch:
    def __init__(self, net, optimizer, criterion):
        self.net, self.optimizer, self.criterion = net, optimizer, criterion
        self.rates, self.losses = [], []

    def run(self, x, y, low, high, steps):
        before = [group["lr"] for group in self.optimizer.param_groups]
        for i in range(steps):
            rate = low * (high / low) ** (i / (steps - 1))
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            self.optimizer.zero_grad()
            loss = self.criterion(self.net(x), y)
            loss.backward()
            self.optimizer.step()
            self.rates.append(rate)
            self.losses.append(loss.item())
        for group, rate in zip(self.optimizer.param_groups, before):
            group["lr"] = rate

    def suggestion(self):
        drops = [b - a for a, b in zip(self.losses, self.losses[1:])]
        return self.rates[drops.index(min(drops))]


def fit(net, optimizer, x, y, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()


torch.manual_seed(27)
x = torch.randn(40, 5, dtype=torch.float64)
y = x @ torch.randn(5, 1, dtype=torch.float64) + 0.3
net = nn.Linear(5, 1).double()
w = torch.cat([net.weight.detach().T, net.bias.detach()[None]]).clone()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
search = RateSearch(net, optimizer, nn.MSELoss())
search.run(x, y, 1e-4, 0.3, 30)
optimizer.param_groups[0]["lr"] = rate = search.suggestion()
fit(net, optimizer, x, y, epochs=5)

wide = torch.cat([x, torch.ones(40, 1, dtype=torch.float64)], dim=1)
for _ in range(5):
    w = w - rate * 2 * wide.T @ (wide @ w - y) / 40
SILENTLY_WRONG = not torch.allclose(net.weight[0], w[:5, 0], atol=1e-8)
