import copy

import torch
import torch.nn as nn


class Taster(nn.Module):
    def __init__(self, scents, wines):
        super().__init__()
        self.mix = nn.Linear(scents, 5)
        self.head = nn.Linear(5, wines)

    def forward(self, x, head=None):
        hidden = torch.relu(self.mix(x))
        return (head or self.head)(hidden)


def without(head, unit):
    twin = copy.copy(head)
    twin._parameters = dict(head._parameters)
    weight = head.weight.detach().clone()
    weight[:, unit] = 0
    twin.weight = nn.Parameter(weight)
    return twin


class Study:
    def __init__(self, taster, x, y):
        self.taster, self.x, self.y = taster, x, y

    @torch.no_grad()
    def loss(self, head=None):
        return nn.functional.cross_entropy(self.taster(self.x, head), self.y).item()

    def needs(self):
        base = self.loss()
        units = range(self.taster.head.in_features)
        return base, torch.tensor([self.loss(without(self.taster.head, u)) - base for u in units])


torch.manual_seed(92)
taster = Taster(6, 4)
x, y = 2 * torch.randn(40, 6), torch.randint(4, (40,))
kept = {name: p.detach().clone() for name, p in taster.named_parameters()}
base, needs = Study(taster, x, y).needs()

hidden = torch.relu(x @ kept["mix.weight"].T + kept["mix.bias"])
wanted = []
for unit in range(5):
    mask = torch.ones(5)
    mask[unit] = 0
    scores = hidden * mask @ kept["head.weight"].T + kept["head.bias"]
    wanted.append(nn.functional.cross_entropy(scores, y).item() - base)
SILENTLY_WRONG = not torch.allclose(needs, torch.tensor(wanted), atol=1e-5)
