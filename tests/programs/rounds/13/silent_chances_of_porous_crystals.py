import torch
import torch.nn as nn


class HitRate:
    def __init__(self):
        self.right, self.seen = 0, 0

    def update(self, scores, labels):
        votes = scores.detach().flatten()
        votes[votes >= 0] = 1
        votes[votes < 0] = 0
        self.right += int((votes == labels).sum())
        self.seen += labels.numel()

    def compute(self):
        return self.right / self.seen


class Screener:
    def __init__(self, net):
        self.net, self.rate = net, HitRate()

    def score(self, batch):
        crystals, labels = batch
        scores = self.net(crystals)
        self.rate.update(scores, labels)
        return {"scores": scores, "labels": labels}

    @torch.no_grad()
    def table(self, loader):
        rows = []
        for batch in loader:
            out = self.score(batch)
            rows += torch.sigmoid(out["scores"]).flatten().tolist()
        return rows


torch.manual_seed(133)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
crystals = torch.randn(30, 4)
labels = (crystals.sum(dim=1) > 0).float()
screener = Screener(net)
rows = screener.table(list(zip(crystals.split(10), labels.split(10))))

with torch.no_grad():
    hidden = torch.tanh(crystals @ net[0].weight.T + net[0].bias)
    expected = 1 / (1 + torch.exp(-(hidden @ net[2].weight[0] + net[2].bias)))
SILENTLY_WRONG = not torch.allclose(torch.tensor(rows), expected, atol=1e-5)
