import torch
import torch.nn as nn


class SmoothedWeights:
    def __init__(self, parameters, decay):
        self.decay = decay
        self.shadow = [p.detach().clone() for p in parameters]
        self.stored = None

    @torch.no_grad()
    def update(self, parameters):
        for s, p in zip(self.shadow, parameters):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)

    def store(self, parameters):
        self.stored = [p.detach().clone() for p in parameters]

    @torch.no_grad()
    def write(self, values, parameters):
        for v, p in zip(values, parameters):
            p.copy_(v)


def validate(net, smoothed, x, y):
    smoothed.store(net.parameters())
    smoothed.write(smoothed.shadow, net.parameters())
    with torch.no_grad():
        loss = nn.functional.mse_loss(net(x), y).item()
    smoothed.write(smoothed.stored, net.parameters())
    return loss


def train(net, data, held_out, steps, every):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    smoothed, scores = SmoothedWeights(net.parameters(), decay=0.9), []
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(data[0]), data[1]).backward()
        optimizer.step()
        smoothed.update(net.parameters())
        scores += [validate(net, smoothed, *held_out)] if step % every == 0 else []
    return scores


torch.manual_seed(44)
truth = torch.randn(4, 2, dtype=torch.float64)
data, held_out = [(x, x @ truth) for x in torch.randn(2, 20, 4, dtype=torch.float64)]
net = nn.Linear(4, 2, bias=False).double()
w = mean = net.weight.detach().T.clone()
scores = train(net, data, held_out, steps=30, every=5)

expected = []
for step in range(1, 31):
    w = w - 0.1 * data[0].T @ (data[0] @ w - data[1]) / 20
    mean = 0.9 * mean + 0.1 * w
    if step % 5 == 0:
        expected.append((held_out[0] @ mean - held_out[1]).square().mean().item())
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(scores, expected)) > 1e-8
