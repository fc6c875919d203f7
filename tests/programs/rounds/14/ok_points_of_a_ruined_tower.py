import torch


def farthest(points, count):
    chosen = [0]
    nearest = torch.full((len(points),), torch.inf, dtype=points.dtype)
    for _ in range(count - 1):
        away = (points - points[chosen[-1]]).square_().sum(dim=1)
        torch.minimum(nearest, away, out=nearest)
        chosen.append(int(nearest.argmax()))
    return chosen


class TowerScan:
    def __init__(self, points):
        self.points = points

    def sample(self, count):
        sample = self.points[farthest(self.points, count)]
        sample -= sample.mean(dim=0)
        sample /= sample.norm(dim=1).max()
        return sample


torch.manual_seed(221)
points = torch.rand(120, 3, dtype=torch.float64) * torch.tensor([4.0, 4.0, 12.0], dtype=torch.float64)
rows = points.tolist()
sample = TowerScan(points).sample(15)

taken = [0]
while len(taken) < 15:
    gaps = [min(sum((a - b) ** 2 for a, b in zip(row, rows[k])) for k in taken) for row in rows]
    taken.append(max(range(120), key=gaps.__getitem__))
right = torch.tensor([rows[k] for k in taken], dtype=torch.float64)
right = right - right.mean(dim=0)
expected = right / right.norm(dim=1).max()
SILENTLY_WRONG = not (torch.allclose(sample, expected) and points.tolist() == rows)
