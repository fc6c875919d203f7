import torch


def read_gauges(days, seed=3):
    g = torch.Generator().manual_seed(seed)
    names = ["upper", "lower", "delta"]
    for day in range(days):
        name = names[day % 3]
        yield name, torch.rand(4, generator=g) * (1 + day % 3)


class Catchments:
    def __init__(self, names, gauges):
        self.sums = dict.fromkeys(names, torch.zeros(gauges))
        self.days = dict.fromkeys(names, 0)

    def add(self, name, rain):
        self.sums[name] += rain
        self.days[name] += 1

    def means(self):
        return {name: total / max(self.days[name], 1) for name, total in self.sums.items()}


def report(days):
    catchments = Catchments(["upper", "lower", "delta"], 4)
    for name, rain in read_gauges(days):
        catchments.add(name, rain)
    return catchments.means()


means = report(30)
rows = list(read_gauges(30))
correct = True
for name in ("upper", "lower", "delta"):
    own = torch.stack([rain for other, rain in rows if other == name])
    correct = correct and torch.allclose(means[name], own.mean(dim=0), atol=1e-6)
SILENTLY_WRONG = not correct
