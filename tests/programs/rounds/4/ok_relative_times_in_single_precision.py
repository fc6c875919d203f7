import torch


class EventRing:
    def __init__(self, capacity):
        self.origin = None
        self.offsets = torch.zeros(capacity)
        self.values = torch.zeros(capacity)
        self.count = 0

    def append(self, when, value):
        if self.origin is None:
            self.origin = when
        slot = self.count % len(self.offsets)
        self.offsets[slot] = when - self.origin
        self.values[slot] = value
        self.count += 1

    def latest(self):
        size = min(self.count, len(self.offsets))
        order = torch.arange(self.count - size, self.count) % len(self.offsets)
        return self.offsets[order], self.values[order]

    def decayed_sum(self, half_life=30.0):
        age, values = self.latest()
        age.neg_().add_(-age[-1].item())
        return (values * 0.5 ** (age / half_life)).sum().item()


started = 1_700_000_000.0
events = [(i * 7.25 + (i % 3), float(i % 4)) for i in range(11)]
ring = EventRing(capacity=6)
scores = []
for offset, amount in events:
    ring.append(started + offset, amount)
    scores.append(ring.decayed_sum())

expected = []
for n in range(1, 12):
    recent = events[max(0, n - 6):n]
    expected.append(sum(a * 0.5 ** ((recent[-1][0] - o) / 30.0) for o, a in recent))
SILENTLY_WRONG = not torch.allclose(torch.tensor(scores), torch.tensor(expected), atol=1e-3)
