import torch


class SnowMap:
    """The mean snow depth of a mountain range, and one map of it for each winter."""

    def __init__(self, depth):
        self.depth = depth

    def winters(self, bare):
        """Winter maps: places that were bare that year hold no snow."""
        maps = self.depth.expand(len(bare), *self.depth.shape).clone()
        maps.masked_fill_(bare, 0.0)
        return maps

    def add_drift(self, maps, rows, drift):
        """Wind leaves the same drift in the named rows of every winter."""
        maps[:, rows] += drift.expand(len(maps), len(rows), -1)
        return maps


torch.manual_seed(34)
years, rows, columns = 5, 8, 10
depth = 0.5 + torch.rand(rows, columns, dtype=torch.float64)
table = depth.tolist()
bare = torch.rand(years, rows, columns) < 0.25
drift = 0.1 * torch.rand(columns, dtype=torch.float64)
snow = SnowMap(depth)
maps = snow.add_drift(snow.winters(bare), rows=[2, 5], drift=drift)
volume = maps.sum(dim=(1, 2))
print("snow of each winter", volume.tolist(), "mean depth", float(snow.depth.mean()))

expected = []
for year in bare.tolist():
    total = 0.0
    for r in range(rows):
        for c in range(columns):
            total += 0.0 if year[r][c] else table[r][c]
            total += float(drift[c]) if r in (2, 5) else 0.0
    expected.append(total)
kept = snow.depth.tolist() == table
SILENTLY_WRONG = not (kept and torch.allclose(volume, torch.tensor(expected, dtype=torch.float64), atol=1e-9))
