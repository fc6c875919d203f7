import torch


class Sieve:
    def __init__(self, limit):
        self.flags = torch.ones(limit + 1, dtype=torch.bool)
        self.flags[:2] = False
        self.limit = limit

    def run(self):
        number = 2
        while number * number <= self.limit:
            if self.flags[number]:
                self.flags[number * number::number].fill_(False)
            number += 1
        return self.flags.nonzero().squeeze(1)


def gaps(primes):
    width = primes[1:] - primes[:-1]
    table = torch.zeros(int(width.max()) + 1, dtype=torch.long)
    table.index_add_(0, width, torch.ones_like(width))
    return table


primes = Sieve(600).run()
table = gaps(primes)

slow = [n for n in range(2, 601) if all(n % d for d in range(2, int(n ** 0.5) + 1))]
width = [b - a for a, b in zip(slow, slow[1:])]
counted = torch.tensor([width.count(w) for w in range(max(width) + 1)])
SILENTLY_WRONG = not (torch.equal(primes, torch.tensor(slow)) and torch.equal(table, counted))
