import torch
import torch.nn as nn


class Calibration(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm1d(channels, momentum=0.2)
        self.line = nn.Linear(channels, 1)

    def forward(self, spectra):
        return self.line(self.norm(spectra)).squeeze(1)


def validate(net, loader, criterion):
    total, count = 0.0, 0
    with torch.no_grad():
        for spectra, doses in loader:
            total += criterion(net(spectra), doses).item() * len(doses)
            count += len(doses)
    return total / count


def fit(net, train_loader, val_loader, epochs):
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    history = []
    for _ in range(epochs):
        net.train()
        for spectra, doses in train_loader:
            optimizer.zero_grad()
            criterion(net(spectra), doses).backward()
            optimizer.step()
        history.append(validate(net, val_loader, criterion))
    return history


torch.manual_seed(3)
truth = torch.randn(6)
first = [torch.randn(16, 6) * 1.5 + 2.0 for _ in range(4)]
later = [torch.randn(16, 6) * 0.7 - 1.0 for _ in range(4)]
train_loader, val_loader = [[(x, x @ truth) for x in part] for part in (first, later)]
net = Calibration(6)
history = fit(net, train_loader, val_loader, epochs=5)
net.eval()
predicted = net(first[0])

mean, var = torch.zeros(6), torch.ones(6)
for _ in range(5):
    for x in first:
        mean = 0.8 * mean + 0.2 * x.mean(dim=0)
        var = 0.8 * var + 0.2 * x.var(dim=0)
scaled = (first[0] - mean) / (var + net.norm.eps).sqrt() * net.norm.weight + net.norm.bias
expected = scaled @ net.line.weight[0] + net.line.bias
SILENTLY_WRONG = not torch.allclose(predicted, expected, atol=1e-3)
