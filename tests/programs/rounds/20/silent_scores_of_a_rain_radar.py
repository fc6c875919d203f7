import torch


class Meter:
    def __init__(self, formula):
        self.formula = formula
        self.counts = torch.zeros(4)

    def update(self, warned, rained):
        kind = 2 * warned.long() + rained.long()
        self.counts += torch.bincount(kind, minlength=4)

    def compute(self):
        return self.formula(*self.counts)


class MeterGroup:
    """Meters over the same four counts; only the first one counts, the others look at its tensor."""

    def __init__(self, **meters):
        self.meters = meters
        self.leader, *self.followers = meters.values()
        self.copied = False
        self.link()

    def link(self, copy=False):
        if self.copied:
            return
        for meter in self.followers:
            meter.counts = self.leader.counts.clone() if copy else self.leader.counts
        self.copied = copy

    def update(self, warned, rained):
        self.link()
        self.leader.update(warned, rained)

    def report(self):
        self.link(copy=True)
        return {name: float(meter.compute()) for name, meter in self.meters.items()}


group = MeterGroup(
    detection=Meter(lambda none, miss, false, hit: hit / (hit + miss)),
    false_alarms=Meter(lambda none, miss, false, hit: false / (hit + false)),
    threat=Meter(lambda none, miss, false, hit: hit / (hit + miss + false)),
)
torch.manual_seed(2)
months, reports = [], []
for month in range(4):
    rained = torch.rand(200) < 0.3
    warned = torch.where(rained, torch.rand(200) < 0.9 - 0.2 * month, torch.rand(200) < 0.1)
    group.update(warned, rained)
    months.append((warned, rained))
    reports.append(group.report())
print(reports[-1])

warned, rained = (torch.cat(parts) for parts in zip(*months))
hit, miss, false = [int(c.sum()) for c in (warned & rained, ~warned & rained, warned & ~rained)]
expected = [hit / (hit + miss), false / (hit + false), hit / (hit + miss + false)]
SILENTLY_WRONG = any(abs(a - b) > 1e-6 for a, b in zip(reports[-1].values(), expected))
