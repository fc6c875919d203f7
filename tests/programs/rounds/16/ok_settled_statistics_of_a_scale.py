import torch
import torch.nn as nn


class Calibration(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm1d(channels)
        self.line = nn.Linear(channels, 1)

    def forward(self, loads):
        return self.line(self.norm(loads)).squeeze(1)


def settle(net, loader):
    net.norm.reset_running_stats()
    momentum, net.norm.momentum = net.norm.momentum, None
    net.train()
    with torch.no_grad():
        for loads, _ in loader:
            net(loads)
    net.norm.momentum = momentum


def fit(net, loader, epochs):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    net.train()
    for _ in range(epochs):
        for loads, weights in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(net(loads), weights).backward()
            optimizer.step()


def predict(net, loader, loads):
    settle(net, loader)
    net.eval()
    with torch.no_grad():
        return net(loads)


torch.manual_seed(3)
truth = torch.randn(5)
loader = [(x, x @ truth) for x in (torch.randn(16, 5) * 2 + 1 for _ in range(4))]
net = Calibration(5)
fit(net, loader, epochs=3)
loads = torch.randn(7, 5)
predicted = predict(net, loader, loads)

mean = torch.stack([x.mean(dim=0) for x, _ in loader]).mean(dim=0)
var = torch.stack([x.var(dim=0) for x, _ in loader]).mean(dim=0)
scaled = (loads - mean) / (var + net.norm.eps).sqrt() * net.norm.weight + net.norm.bias
SILENTLY_WRONG = not torch.allclose(predicted, scaled @ net.line.weight[0] + net.line.bias, atol=1e-4)
