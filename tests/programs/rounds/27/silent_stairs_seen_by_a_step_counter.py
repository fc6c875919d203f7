import torch
from torch import nn


def accuracy(net, x, y):
    with torch.no_grad():
        return float((net(x).argmax(dim=1) == y).float().mean())


def train_epoch(net, batches, loss_fn, optimizer):
    total = 0.0
    for x, y in batches:
        loss = loss_fn(net(x), y)
        loss.backward()
        optimizer.step()
        total += float(loss.detach()) * len(x)
    return total


torch.manual_seed(40)
walk, stairs, lift = torch.randn(3, 60, 6) + torch.tensor([0.0, 1.2, -1.2])[:, None, None]
x = torch.cat([walk, stairs, lift])
y = torch.arange(3).repeat_interleave(60)
order = torch.randperm(180)
x, y = x[order], y[order]
net = nn.Linear(6, 3)
with torch.no_grad():
    w, b = net.weight.clone(), net.bias.clone()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
batches = list(zip(x.split(30), y.split(30)))
for epoch in range(10):
    total = train_epoch(net, batches, nn.CrossEntropyLoss(), optimizer)
    print("epoch", epoch, "loss", round(total / 180, 4), "accuracy", accuracy(net, x, y))

for epoch in range(10):
    for xb, yb in batches:
        off = (xb @ w.T + b).softmax(dim=1) - nn.functional.one_hot(yb, 3)
        w, b = w - 0.1 * off.T @ xb / len(xb), b - 0.1 * off.mean(dim=0)
SILENTLY_WRONG = not torch.allclose(net.weight, w, atol=1e-3)
