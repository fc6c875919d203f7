import torch
import torch.nn as nn


class SmoothedWeights:
    def __init__(self, parameters, decay):
        self.decay = decay
        self.shadow = [p.detach().clone() for p in parameters]

    @torch.no_grad()
    def update(self, parameters):
        for s, p in zip(self.shadow, parameters):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)

    @torch.no_grad()
    def copy_to(self, parameters):
        for s, p in zip(self.shadow, parameters):
            p.copy_(s)


def validate(net, smoothed, x, y):
    smoothed.copy_to(net.parameters())
    with torch.no_grad():
        return nn.functional.mse_loss(net(x), y).item()


def train(net, data, held_out, steps, every):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    smoothed = SmoothedWeights(net.parameters(), decay=0.9)
    scores = []
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(data[0]), data[1]).backward()
        optimizer.step()
        smoothed.update(net.parameters())
        if step % every == 0:
            scores.append(validate(net, smoothed, *held_out))
    return scores


torch.manual_seed(44)
truth = torch.randn(4, 2, dtype=torch.float64)
data, held_out = [(x, x @ truth) for x in torch.randn(2, 20, 4, dtype=torch.float64)]
net = nn.Linear(4, 2, bias=False).double()
w = net.weight.detach().T.clone()
scores = train(net, data, held_out, steps=30, every=5)

mean, expected = w, []
for step in range(1, 31):
    w = w - 0.1 * data[0].T @ (data[0] @ w - data[1]) / 20
    mean = 0.9 * mean + 0.1 * w
    if step % 5 == 0:
        expected.append((held_out[0] @ mean - held_out[1]).square().mean().item())
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(scores, expected)) > 1e-8
