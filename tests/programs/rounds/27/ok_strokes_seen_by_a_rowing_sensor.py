import torch
from torch import nn


class Trainer:
    def __init__(self, net, lr):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
        self.norms = []

    def epoch(self, batches):
        for x, stroke in batches:
            loss = nn.functional.cross_entropy(self.net(x), stroke)
            loss.backward()
            self.norms.append(sum(p.grad.square().sum() for p in self.net.parameters()).sqrt())
            self.optimizer.step()
            self.optimizer.zero_grad()


torch.manual_seed(46)
x = torch.cat([torch.randn(40, 4) - 1, torch.randn(40, 4) + 1])
stroke = torch.arange(2).repeat_interleave(40)
order = torch.randperm(80)
batches = list(zip(x[order].split(16), stroke[order].split(16)))
net = nn.Linear(4, 2)
with torch.no_grad():
    w, b = net.weight.clone(), net.bias.clone()
trainer = Trainer(net, lr=0.05)
for _ in range(5):
    trainer.epoch(batches)
print("slope norms", [round(float(n), 4) for n in trainer.norms[::5]])

vw, vb, norms = torch.zeros(2, 4), torch.zeros(2), []
for _ in range(5):
    for xb, yb in batches:
        off = ((xb @ w.T + b).softmax(dim=1) - nn.functional.one_hot(yb, 2)) / len(xb)
        gw, gb = off.T @ xb, off.sum(dim=0)
        norms.append((gw.square().sum() + gb.square().sum()).sqrt())
        vw, vb = 0.9 * vw + gw, 0.9 * vb + gb
        w, b = w - 0.05 * vw, b - 0.05 * vb
SILENTLY_WRONG = not torch.allclose(torch.stack(trainer.norms), torch.stack(norms), atol=1e-4)
