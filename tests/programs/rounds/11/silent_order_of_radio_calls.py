import random

import torch
import torch.nn as nn


class Calls:
    def __init__(self, features, size, seed):
        self.order = torch.arange(len(features))
        self.features, self.size = features, size
        self.dice = random.Random(seed)

    def __iter__(self):
        self.dice.shuffle(self.order)
        for i in range(0, len(self.order), self.size):
            yield self.features[self.order[i:i + self.size]]


def running_centre(calls, epochs):
    centre, count = torch.zeros(calls.features.shape[1]), 0
    for _ in range(epochs):
        for batch in calls:
            centre += batch.sum(dim=0)
            count += len(batch)
    return centre / count


torch.manual_seed(6)
features = torch.randn(40, 3) * torch.linspace(0.1, 3, 40)[:, None]
found = running_centre(Calls(features.clone(), 8, seed=1), epochs=4)
SILENTLY_WRONG = not torch.allclose(found, features.mean(dim=0), atol=1e-5)
