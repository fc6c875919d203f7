from functools import lru_cache

import torch


@lru_cache(maxsize=16)
def coast(poles, reach):
    index = torch.arange(poles)
    gap = (index[:, None] - index).abs()
    return ((gap > 0) & (gap <= reach)).double()


def with_self(adjacency, weight):
    own = adjacency.clone()
    own.fill_diagonal_(weight)
    own /= own.sum(1, keepdim=True)
    return own


class Gossip:
    def __init__(self, poles, reach):
        self.poles, self.reach = poles, reach

    def smooth(self, level, weight):
        return with_self(coast(self.poles, self.reach), weight) @ level

    def surprise(self, level):
        a = coast(self.poles, self.reach)
        return level - a @ level / a.sum(1, keepdim=True)


def faulty_poles(level, gossip, bound):
    calm = gossip.smooth(gossip.smooth(level, weight=1.0), weight=2.0)
    odd = gossip.surprise(level).abs().mean(1)
    return calm, odd, (odd > bound).nonzero().flatten().tolist()


torch.manual_seed(71)
level = 2 + 0.3 * torch.randn(11, 7, dtype=torch.float64)
level[4] += 1.5
calm, odd, faulty = faulty_poles(level, Gossip(11, reach=2), bound=1.0)


def around(values, pole):
    return [values[k] for k in range(max(0, pole - 2), min(11, pole + 3)) if k != pole]


def weighted(values, weight):
    rows = []
    for pole in range(11):
        near = around(values, pole)
        rows.append((sum(near) + weight * values[pole]) / (len(near) + weight))
    return torch.stack(rows)


wanted = torch.stack([(level[p] - torch.stack(around(level, p)).mean(0)).abs().mean() for p in range(11)])
SILENTLY_WRONG = not (torch.allclose(odd, wanted) and torch.allclose(calm, weighted(weighted(level, 1.0), 2.0)))
