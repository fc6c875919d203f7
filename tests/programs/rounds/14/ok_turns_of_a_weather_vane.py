from functools import lru_cache

import torch


@lru_cache(maxsize=None)
def taper(length):
    return torch.bartlett_window(length, periodic=False, dtype=torch.float64)


@lru_cache(maxsize=None)
def workspace(length):
    return torch.empty(length, dtype=torch.float64)


def weighted(frame):
    out = workspace(len(frame))
    torch.mul(frame, taper(len(frame)), out=out)
    return out


def describe(angles, length, hop):
    rows = []
    for frame in angles.unfold(0, length, hop):
        window = taper(length)
        sine = weighted(frame.sin()).sum() / window.sum()
        cosine = weighted(frame.cos()).sum() / window.sum()
        steady = weighted(frame).sub_(frame.mean()).abs_().mean()
        rows.append(torch.stack([torch.atan2(sine, cosine), torch.hypot(sine, cosine), steady]))
    return torch.stack(rows)


torch.manual_seed(372)
angles = (0.3 * torch.randn(60, dtype=torch.float64)).cumsum(dim=0)
given = angles.tolist()
rows = describe(angles, length=21, hop=10)

expected = []
weights = [min(k, 20 - k) / 10 for k in range(21)]
for begin in range(0, 40, 10):
    part = torch.tensor(given[begin:begin + 21], dtype=torch.float64)
    share = torch.tensor(weights, dtype=torch.float64)
    sine, cosine = part.sin() @ share / share.sum(), part.cos() @ share / share.sum()
    length = (sine ** 2 + cosine ** 2) ** 0.5
    expected.append(torch.stack([torch.atan2(sine, cosine), length, (part * share - part.mean()).abs().mean()]))
SILENTLY_WRONG = not (torch.allclose(rows, torch.stack(expected)) and angles.tolist() == given)
