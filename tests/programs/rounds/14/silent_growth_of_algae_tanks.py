import torch


class TankLog:
    def __init__(self, tanks, hours, seed):
        dice = torch.Generator().manual_seed(seed)
        steps = 1 + 0.05 * torch.randn(tanks, hours, generator=dice, dtype=torch.float64)
        self.density = 10 * steps.cumprod(dim=1)

    def table(self):
        return self.density.clone()


def hourly_growth(density):
    density[:, 1:].div_(density[:, :-1])
    return density[:, 1:]


def summary(log):
    growth = hourly_growth(log.table())
    best = growth.max(dim=1)
    return {"mean": growth.mean(dim=1), "best": best.values, "hour": best.indices + 1}


log = TankLog(tanks=3, hours=64, seed=40)
report = summary(log)

rows = log.density.tolist()
means = []
for row in rows:
    ratios = [later / earlier for earlier, later in zip(row[:-1], row[1:])]
    means.append(sum(ratios) / len(ratios))
expected = torch.tensor(means, dtype=torch.float64)
SILENTLY_WRONG = not torch.allclose(report["mean"], expected, atol=1e-6)
