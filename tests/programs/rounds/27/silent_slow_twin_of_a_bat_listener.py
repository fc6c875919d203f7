import copy

import torch
from torch import nn


class Twins:
    """A listener and its slow twin, which is the one that goes into the recorder."""

    def __init__(self, listener, momentum):
        self.listener = listener
        self.twin = copy.deepcopy(listener).requires_grad_(False)
        self.momentum = momentum

    @torch.no_grad()
    def follow(self):
        for p, slow in zip(self.listener.parameters(), self.twin.parameters()):
            slow.mul_(self.momentum).add_(p, alpha=1 - self.momentum)


def make_listener():
    return nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))


torch.manual_seed(31)
calls = 3 + 2 * torch.randn(240, 5)
species = (calls[:, 0] + 0.5 * calls[:, 1] > 4.5).long()
twins = Twins(make_listener(), momentum=0.9)
optimizer = torch.optim.Adam(twins.listener.parameters(), lr=0.01)
for epoch in range(8):
    for rows in torch.randperm(240).split(40):
        loss = nn.functional.cross_entropy(twins.listener(calls[rows]), species[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        twins.follow()
twins.twin.eval()
scores = twins.twin(calls)
print("right calls of the twin", float((scores.argmax(dim=1) == species).float().mean()))

norm = twins.listener[1]
w1, b1, g, s, w2, b2 = twins.twin.parameters()
hidden = (calls @ w1.T + b1 - norm.running_mean) / (norm.running_var + norm.eps).sqrt() * g + s
expected = hidden.relu() @ w2.T + b2
SILENTLY_WRONG = not torch.allclose(scores, expected, atol=1e-4)
