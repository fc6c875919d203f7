import random

import torch


class Tickets:
    def __init__(self, features, size, seed):
        self.order = torch.arange(len(features))
        self.features, self.size = features, size
        self.dice = random.Random(seed)

    def __iter__(self):
        places = self.order.tolist()
        self.dice.shuffle(places)
        self.order.copy_(torch.tensor(places))
        for chunk in self.order.split(self.size):
            yield self.features[chunk]


def running_centre(tickets, epochs):
    centre, count = torch.zeros(tickets.features.shape[1]), 0
    for _ in range(epochs):
        for batch in tickets:
            batch.sub_(centre)
            count += len(batch)
            centre += batch.sum(dim=0) / count
    return centre


torch.manual_seed(60)
features = torch.randn(36, 3) * torch.linspace(0.1, 3, 36)[:, None]
given = features.clone()
found = running_centre(Tickets(features, 6, seed=10), epochs=4)
right = torch.allclose(found, given.mean(dim=0), atol=1e-5) and torch.equal(features, given)
SILENTLY_WRONG = not right
