import torch


def all_reduce(parts):
    total = torch.stack(parts).sum(dim=0)
    for part in parts:
        part.copy_(total)
    return parts


class ErrorRate:
    def __init__(self, workers):
        self.counts = [torch.zeros(2) for _ in range(workers)]

    def update(self, worker, guess, label):
        self.counts[worker][0] += (guess != label).sum()
        self.counts[worker][1] += len(label)

    def compute(self):
        wrong, seen = all_reduce([count.clone() for count in self.counts])[0]
        return (wrong / seen).item()


torch.manual_seed(857)
rate, log, guesses, labels = ErrorRate(workers=4), [], [], []
for i in range(6):
    for worker in range(4):
        label = torch.randint(0, 3, (10,))
        guess = torch.where(torch.rand(10) < 0.15 * i, torch.randint(0, 3, (10,)), label)
        rate.update(worker, guess, label)
        guesses.append(guess)
        labels.append(label)
    log.append(rate.compute())

wrong = (torch.stack(guesses) != torch.stack(labels)).float().mean(dim=1)
expected = [wrong[:4 * (i + 1)].mean().item() for i in range(6)]
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(log, expected)) > 1e-5
