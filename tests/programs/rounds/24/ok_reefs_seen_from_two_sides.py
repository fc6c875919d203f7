import copy

import torch


class ReefScan:
    def __init__(self, points, colour):
        self.points = points
        self.colour = colour


class TurnedScans:
    """Scans of a reef, seen from another side each time they are read."""

    def __init__(self, scans, angles):
        self.scans = scans
        self.angles = angles

    def read(self, index, turn):
        view = copy.copy(self.scans[index])
        angle = self.angles[turn]
        c, s = angle.cos(), angle.sin()
        spin = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])
        view.points = view.points @ spin.T
        view.points -= view.points.mean(dim=0)
        view.colour = view.colour / view.colour.amax()
        return view


def spread(scans, turns):
    total = torch.zeros(2)
    for turn in turns:
        for index in range(len(scans.scans)):
            total += scans.read(index, turn).points.var(dim=0)
    return total / (len(turns) * len(scans.scans))


torch.manual_seed(31)
stored = [torch.randn(40, 2) * torch.tensor([3.0, 1.0]) + 5 for _ in range(4)]
scans = TurnedScans([ReefScan(p.clone(), torch.rand(40, 3)) for p in stored], torch.tensor([0.0, 1.5707964]))
found = spread(scans, turns=[0, 1, 0, 1])
print("spread along and across", found.tolist())

both = torch.stack([p.var(dim=0) for p in stored]).mean(dim=0)
expected = (both + both.flip(0)) / 2
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-3)
