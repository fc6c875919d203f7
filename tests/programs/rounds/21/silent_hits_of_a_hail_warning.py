import torch
from torch import nn


class WarningScore:
    """Critical success index: hits over hits, misses and false alarms."""

    def __init__(self):
        self.table = torch.zeros(2, 2)

    def update(self, warned, hailed):
        cells = warned.long() * 2 + hailed.long()
        self.table += torch.bincount(cells, minlength=4).view(2, 2)

    def compute(self):
        hits, misses, alarms = self.table[1, 1], self.table[0, 1], self.table[1, 0]
        return (hits / (hits + misses + alarms)).item()

    def reset(self):
        self.table.zero_()


class HailTrainer:
    def __init__(self, net, rate):
        self.net, self.score = net, WarningScore()
        self.optimizer = torch.optim.SGD(net.parameters(), lr=rate)

    def batch(self, days, hail, learn):
        logits = self.net(days).squeeze(1)
        self.score.update(logits.detach() > 0, hail > 0)
        if learn:
            self.optimizer.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(logits, hail).backward()
            self.optimizer.step()

    def epoch(self, train, check):
        for days, hail in train:
            self.batch(days, hail, learn=True)
        for days, hail in check:
            self.batch(days, hail, learn=False)
        return self.score.compute()


torch.manual_seed(41)
days = torch.randn(240, 6)
hail = (days[:, 0] + 0.8 * days[:, 1] + 0.7 * torch.randn(240) > 0.6).float()
batches = list(zip(days.split(30), hail.split(30)))
trainer = HailTrainer(nn.Linear(6, 1), rate=0.5)
scores = [trainer.epoch(batches[:6], batches[6:]) for _ in range(5)]
print("scores", [round(s, 4) for s in scores])

with torch.no_grad():
    warned = trainer.net(days[180:]).squeeze(1) > 0
hailed = hail[180:] > 0
last = (warned & hailed).sum().item() / (warned | hailed).sum().item()
SILENTLY_WRONG = abs(scores[-1] - last) > 1e-6
