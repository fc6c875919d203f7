import torch


def all_reduce(parts):
    total = torch.stack(parts).sum(dim=0)
    for part in parts:
        part.copy_(total)


class HitRate:
    def __init__(self, workers):
        self.hits = [torch.zeros(()) for _ in range(workers)]
        self.seen = [torch.zeros(()) for _ in range(workers)]

    def update(self, worker, score, label):
        guess = (score > 0).long()
        self.hits[worker] += (guess == label).sum()
        self.seen[worker] += len(label)

    def compute(self):
        all_reduce(self.hits)
        all_reduce(self.seen)
        return (self.hits[0] / self.seen[0]).item()


def evaluate(metric, shards, every):
    log = []
    for i, parts in enumerate(shards, start=1):
        for worker, (score, label) in enumerate(parts):
            metric.update(worker, score, label)
        if i % every == 0:
            log.append(metric.compute())
    return log


torch.manual_seed(807)
shards = []
for i in range(9):
    labels = torch.randint(0, 2, (3, 16))
    scores = (labels * 2 - 1) * (0.2 + 0.2 * i) + torch.randn(3, 16)
    shards.append(list(zip(scores, labels)))

log = evaluate(HitRate(workers=3), shards, every=3)
flat = [[((s > 0) == (y == 1)).float() for s, y in parts] for parts in shards]
expected = [torch.cat(sum(flat[:end], [])).mean().item() for end in (3, 6, 9)]
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(log, expected)) > 1e-5
