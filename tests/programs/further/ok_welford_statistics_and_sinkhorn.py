import torch
import torch.nn as nn


class Welford:
    def __init__(self, n):
        self.count, self.mean, self.m2 = 0, torch.zeros(n), torch.zeros(n)

    def update(self, batch):
        for x in batch.detach():
            self.count += 1
            delta = x - self.mean
            self.mean += delta / self.count
            self.m2 += delta * (x - self.mean)

    def normalise(self, batch):
        return (batch - self.mean) / (self.m2 / self.count).sqrt().add_(1e-5)


@torch.no_grad()
def sinkhorn(scores, steps=3):
    q = torch.exp(scores / 0.05).T
    q /= q.sum()
    for _ in range(steps):
        q /= q.sum(1, keepdim=True)
        q /= q.shape[0]
        q /= q.sum(0, keepdim=True)
        q /= q.shape[1]
    return (q * q.shape[1]).T


torch.manual_seed(0)
stats, proto = Welford(4), nn.Linear(4, 3, bias=False)
opt = torch.optim.SGD(proto.parameters(), 0.1)
for _ in range(3):
    x = torch.randn(6, 4)
    stats.update(x)
    with torch.no_grad():
        proto.weight.copy_(nn.functional.normalize(proto.weight, dim=1))
    scores = proto(stats.normalise(x))
    loss = -(sinkhorn(scores) * scores.log_softmax(1)).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
