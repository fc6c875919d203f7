import torch


class Core:
    def __init__(self, values):
        self.values = values

    def copy(self):
        return Core(self.values.clone())


def balanced(train):
    cores = [core.copy() for core in train]
    weights = []
    for core in cores:
        weights.append(core.values.norm())
        core.values /= weights[-1]
    return cores, torch.stack(weights)


def evaluate(train, place):
    row = torch.ones(1, dtype=torch.float64)
    for core, index in zip(train, place):
        row = row @ core.values[:, index]
    return row.squeeze()


def compare(train, places):
    cores, weights = balanced(train)
    scale = weights.prod()
    return torch.stack([scale * evaluate(cores, place) - evaluate(train, place) for place in places])


torch.manual_seed(107)
ranks = [1, 3, 5, 3, 1]
train = [Core(2 * torch.randn(left, 4, right, dtype=torch.float64)) for left, right in zip(ranks[:-1], ranks[1:])]
full = train[0].values
for core in train[1:]:
    full = torch.tensordot(full, core.values, dims=1)
full = full.squeeze(0).squeeze(-1)

places = [(0, 1, 2, 3), (3, 3, 0, 1), (2, 0, 1, 1)]
gaps = compare(train, places)
values = torch.stack([evaluate(train, place) for place in places])
expected = torch.stack([full[place] for place in places])
SILENTLY_WRONG = not (torch.allclose(values, expected) and gaps.abs().max() < 1e-8)
