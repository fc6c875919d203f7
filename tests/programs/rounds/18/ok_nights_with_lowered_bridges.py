import torch


class Town:
    """Minutes over each road, by the hour in which one sets out on it."""

    def __init__(self, ends, minutes, places):
        self.ends, self.places = ends, places
        self.minutes = minutes[:, None].repeat(1, 24)

    def close(self, roads, hours, wait, longest):
        """Boats wait: adds to some roads over some hours, up to a longest time."""
        rows = self.minutes[roads]
        rows[:, hours] += wait
        rows.clamp_(max=longest)
        self.minutes[roads] = rows

    def calm(self, hours, factor):
        self.minutes[:, hours].mul_(factor)

    def tables(self):
        """Shortest minutes between all places, for each hour of setting out."""
        far = torch.full((24, self.places, self.places), torch.inf)
        far.diagonal(dim1=1, dim2=2).zero_()
        a, b = self.ends.T
        far[:, a, b] = self.minutes.T
        for k in range(self.places):
            far = torch.minimum(far, far[:, :, k:k + 1] + far[:, k:k + 1, :])
        return far


def night(town, bridges, hours):
    town.calm(slice(0, 6), 0.8)
    town.close(bridges, hours, wait=12.0, longest=30.0)
    return town.tables()


ends = torch.tensor([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]])
minutes = torch.tensor([9.0, 15.0, 20.0, 11.0, 26.0, 33.0])
bridges = torch.tensor([1, 2, 5])
found = night(Town(ends, minutes, places=4), bridges, slice(2, 8))

expected = []
for hour in range(24):
    far = [[0.0 if a == b else float("inf") for b in range(4)] for a in range(4)]
    for road, (a, b) in enumerate(ends.tolist()):
        cost = minutes[road].item() * (0.8 if hour < 6 else 1.0)
        if road in (1, 2, 5):
            cost = min(cost + (12.0 if 2 <= hour < 8 else 0.0), 30.0)
        far[a][b] = cost
    for k in range(4):
        far = [[min(far[a][b], far[a][k] + far[k][b]) for b in range(4)] for a in range(4)]
    expected.append(far)
SILENTLY_WRONG = not torch.allclose(found, torch.tensor(expected))
