import torch
from torch import nn


def train(net, batches, epochs, accumulate, lr):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    shown = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        running, gathered = 0.0, 0
        for idx, (x, delay) in enumerate(batches):
            loss = (net(x).squeeze(1) - delay).square().sum()
            loss.backward()
            running, gathered = running + loss.item(), gathered + len(x)
            if (idx + 1) % accumulate == 0 or idx + 1 == len(batches):
                for p in net.parameters():
                    p.grad /= gathered
                optimizer.step()
                optimizer.zero_grad()
                shown.append(running / gathered)
                running, gathered = 0.0, 0
    return shown


torch.manual_seed(44)
x = torch.randn(55, 3)
delay = 2 + x @ torch.tensor([1.0, 0.5, -0.8]) + 0.2 * torch.randn(55)
net = nn.Linear(3, 1)
w, b = net.weight.detach()[0].clone(), net.bias.detach().clone()
shown = train(net, list(zip(x.split(5), delay.split(5))), epochs=4, accumulate=4, lr=0.1)
print("losses", [round(v, 3) for v in shown])

expected = []
for epoch in range(4):
    for rows in (slice(0, 20), slice(20, 40), slice(40, 55)):
        off = x[rows] @ w + b - delay[rows]
        expected.append(off.square().mean())
        w, b = w - 0.2 * (off[:, None] * x[rows]).mean(dim=0), b - 0.2 * off.mean()
SILENTLY_WRONG = not torch.allclose(torch.tensor(shown), torch.stack(expected), atol=1e-3)
