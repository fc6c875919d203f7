import torch

torch.manual_seed(0)


class Metric:
    def __init__(self):
        self._defaults = {}

    def add_state(self, name, default):
        self._defaults[name] = default
        setattr(self, name, default)

    def reset(self):
        for name, default in self._defaults.items():
            setattr(self, name, default)


class Accuracy(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("correct", torch.tensor(0))
        self.add_state("total", torch.tensor(0))

    def update(self, logits, target):
        self.correct += (logits.argmax(1) == target).sum()
        self.total += target.numel()

    def compute(self):
        return self.correct / self.total


def run(epochs):
    metric, history = Accuracy(), []
    for batches in epochs:
        metric.reset()
        for logits, target in batches:
            metric.update(logits, target)
        history.append(metric.compute().item())
    return history


def make_epoch(sharpness):
    target = torch.randint(0, 3, (4, 20))
    logits = torch.randn(4, 20, 3) + sharpness * torch.nn.functional.one_hot(target, 3)
    return list(zip(logits, target))


epochs = [make_epoch(s) for s in (0.0, 1.0, 3.0)]
history = run(epochs)
expected = [
    sum((l.argmax(1) == t).float().mean().item() for l, t in batches) / len(batches) for batches in epochs
]
SILENTLY_WRONG = any(abs(a - b) > 1e-6 for a, b in zip(history, expected))
