import torch


class HourTally:
    weights = torch.tensor([1.0, 0.5, 0.25])

    def __init__(self):
        self.total = torch.zeros(3)
        self.hours = 0

    def add(self, people):
        self.total += people * self.weights
        self.hours += 1

    def mean(self):
        return self.total / self.hours


class Turnstile:
    def __init__(self, name):
        self.name = name
        self.tally = HourTally()

    def count(self, people):
        self.tally.add(people)


def day(turnstiles, crowd):
    for hour, people in enumerate(crowd):
        turnstiles[hour % 2].count(people)
        if hour % 5 == 0:
            turnstiles[1 - hour % 2].count(people.flip(0))
    return torch.stack([turnstile.tally.mean() for turnstile in turnstiles])


torch.manual_seed(131)
crowd = torch.randint(0, 300, (48, 3)).float()
means = day([Turnstile("east"), Turnstile("west")], crowd)

seen = [[], []]
for hour in range(48):
    seen[hour % 2].append(crowd[hour].tolist())
    if hour % 5 == 0:
        seen[1 - hour % 2].append(crowd[hour].tolist()[::-1])
expected = torch.stack([torch.tensor(rows).mean(dim=0) * torch.tensor([1.0, 0.5, 0.25]) for rows in seen])
SILENTLY_WRONG = not torch.allclose(means, expected, rtol=1e-4)
