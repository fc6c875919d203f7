import torch


class PerClassRecall:
    def __init__(self, num_classes):
        self.num_classes = num_classes
        self.hits = torch.zeros(num_classes)
        self.support = torch.zeros(num_classes)

    def update(self, pred, target):
        self.support += torch.bincount(target, minlength=self.num_classes)
        self.hits += torch.bincount(target[pred == target], minlength=self.num_classes)

    def compute(self):
        recall = self.hits
        recall /= self.support.clamp(min=1)
        return {"per_class": recall.tolist(), "macro": recall.mean().item()}


def batches(seed, count=5, size=40, classes=3):
    gen = torch.Generator().manual_seed(seed)
    for _ in range(count):
        target = torch.randint(0, classes, (size,), generator=gen)
        noise = torch.randint(0, classes, (size,), generator=gen)
        pred = torch.where(torch.rand(size, generator=gen) < 0.6, target, noise)
        yield pred, target


metric = PerClassRecall(3)
history = []
for pred, target in batches(seed=0):
    metric.update(pred, target)
    history.append(metric.compute()["macro"])
final = metric.compute()["macro"]

preds = torch.cat([p for p, _ in batches(seed=0)])
targets = torch.cat([t for _, t in batches(seed=0)])
expected = sum((preds[targets == k] == k).float().mean().item() for k in range(3)) / 3
SILENTLY_WRONG = abs(final - expected) > 1e-5
