import torch


class CalibrationError:
    def __init__(self, bins=5):
        self.bins = bins
        self.count = torch.zeros(bins)
        self.confidence = torch.zeros(bins)
        self.correct = torch.zeros(bins)

    def reset(self):
        for state in (self.count, self.confidence, self.correct):
            state.zero_()

    def update(self, probs, target):
        conf, pred = probs.max(dim=1)
        slot = (conf * self.bins).long().clamp_(max=self.bins - 1)
        self.count.index_add_(0, slot, torch.ones_like(conf))
        self.confidence.index_add_(0, slot, conf)
        self.correct.index_add_(0, slot, (pred == target).float())

    def compute(self):
        gap = self.confidence - self.correct
        gap /= self.count.clamp(min=1)
        gap.abs_()
        return (gap * self.count / self.count.sum()).sum().item()


def epoch(seed):
    gen = torch.Generator().manual_seed(seed)
    for _ in range(3):
        yield torch.randn(30, 4, generator=gen).softmax(-1), torch.randint(0, 4, (30,), generator=gen)


metric = CalibrationError()
reported = []
for seed in range(3):
    metric.reset()
    for probs, target in epoch(seed):
        metric.update(probs, target)
        metric.compute()
    reported.append(metric.compute())

expected = []
for seed in range(3):
    probs = torch.cat([p for p, _ in epoch(seed)])
    target = torch.cat([t for _, t in epoch(seed)])
    conf, pred = probs.max(1)
    slots = (conf * 5).long().clamp(max=4)
    expected.append(sum(
        abs((conf[slots == b] - (pred == target)[slots == b].float()).sum().item()) for b in range(5)
    ) / len(target))
SILENTLY_WRONG = any(abs(a - b) > 1e-5 for a, b in zip(reported, expected))
