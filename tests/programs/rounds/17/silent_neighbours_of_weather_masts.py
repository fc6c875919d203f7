from functools import lru_cache

import torch


@lru_cache(maxsize=16)
def ring(masts, reach):
    index = torch.arange(masts)
    gap = (index[:, None] - index).abs()
    gap = torch.minimum(gap, masts - gap)
    return ((gap > 0) & (gap <= reach)).double()


def with_self(adjacency):
    return adjacency.fill_diagonal_(1.0)


class Gossip:
    def __init__(self, masts, reach):
        self.masts, self.reach = masts, reach

    def smooth(self, wind):
        a = with_self(ring(self.masts, self.reach))
        return a @ wind / a.sum(1, keepdim=True)

    def surprise(self, wind):
        a = ring(self.masts, self.reach)
        return wind - a @ wind / a.sum(1, keepdim=True)


def faulty_masts(wind, gossip, bound):
    calm = gossip.smooth(gossip.smooth(wind))
    odd = gossip.surprise(wind).abs().mean(1)
    return calm, odd, (odd > bound).nonzero().flatten().tolist()


torch.manual_seed(44)
wind = 8 + torch.randn(14, 6, dtype=torch.float64)
wind[5] += 4.0
calm, odd, faulty = faulty_masts(wind, Gossip(14, reach=2), bound=3.0)

near = [wind.roll(k, 0) for k in (-2, -1, 1, 2)]
wanted = (wind - torch.stack(near).mean(0)).abs().mean(1)
SILENTLY_WRONG = not torch.allclose(odd, wanted)
