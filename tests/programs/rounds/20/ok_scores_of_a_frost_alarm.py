import torch


class Meter:
    def __init__(self, formula):
        self.formula = formula
        self.counts = None

    def compute(self):
        return self.formula(*self.counts)


class MeterGroup:
    """Meters over the same four counts, which are kept once."""

    def __init__(self, **meters):
        self.meters = meters
        self.counts = torch.zeros(4)
        for meter in meters.values():
            meter.counts = self.counts

    def update(self, alarmed, froze):
        kind = 2 * alarmed.long() + froze.long()
        self.counts += torch.bincount(kind, minlength=4)

    def report(self):
        return torch.stack([meter.compute() for meter in self.meters.values()])

    def reset(self):
        self.counts.zero_()


group = MeterGroup(
    detection=Meter(lambda none, miss, false, hit: hit / (hit + miss)),
    false_alarms=Meter(lambda none, miss, false, hit: false / (hit + false)),
    bias=Meter(lambda none, miss, false, hit: (hit + false) / (hit + miss)),
)
torch.manual_seed(3)
winters, reports = [], []
for winter in range(3):
    nights = []
    for month in range(4):
        froze = torch.rand(150) < 0.4
        alarmed = torch.where(froze, torch.rand(150) < 0.8 - 0.1 * winter, torch.rand(150) < 0.15)
        group.update(alarmed, froze)
        nights.append((alarmed, froze))
    reports.append(group.report())
    group.reset()
    winters.append([torch.cat(parts) for parts in zip(*nights)])
print("last winter", dict(zip(group.meters, reports[-1].tolist())))

expected = []
for alarmed, froze in winters:
    hit, miss, false = [int(c.sum()) for c in (alarmed & froze, ~alarmed & froze, alarmed & ~froze)]
    expected.append([hit / (hit + miss), false / (hit + false), (hit + false) / (hit + miss)])
SILENTLY_WRONG = not torch.allclose(torch.stack(reports), torch.tensor(expected), atol=1e-6)
