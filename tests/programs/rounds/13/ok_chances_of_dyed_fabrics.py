import torch
import torch.nn as nn


class HitRate:
    def __init__(self):
        self.right, self.seen = 0, 0

    def update(self, scores, labels):
        votes = scores.detach().sigmoid().flatten()
        votes[votes >= 0.5] = 1
        votes[votes < 0.5] = 0
        self.right += int((votes == labels).sum())
        self.seen += labels.numel()

    def compute(self):
        return self.right / self.seen


class Dyer:
    def __init__(self, net):
        self.net, self.rate = net, HitRate()

    @torch.no_grad()
    def table(self, loader):
        rows = []
        for fabrics, labels in loader:
            scores = self.net(fabrics)
            self.rate.update(scores, labels)
            rows += scores.sigmoid_().flatten().tolist()
        return rows


torch.manual_seed(233)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
fabrics = torch.randn(30, 4)
labels = (fabrics.sum(dim=1) > 0).float()
dyer = Dyer(net)
rows = dyer.table(list(zip(fabrics.split(10), labels.split(10))))

with torch.no_grad():
    hidden = torch.tanh(fabrics @ net[0].weight.T + net[0].bias)
    expected = 1 / (1 + torch.exp(-(hidden @ net[2].weight[0] + net[2].bias)))
share = sum(int(p >= 0.5) == int(q) for p, q in zip(expected.tolist(), labels.tolist())) / 30
SILENTLY_WRONG = not torch.allclose(torch.tensor(rows), expected, atol=1e-5) or abs(dyer.rate.compute() - share) > 1e-9
