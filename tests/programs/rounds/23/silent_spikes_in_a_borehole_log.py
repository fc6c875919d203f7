import torch


class BoreholeLog:
    """Density along a borehole, one reading each ten centimetres."""

    def __init__(self, depth, density, caliper):
        self.depth, self.density, self.caliper = depth, density, caliper

    def in_good_hole(self, limit):
        return self.caliper < limit

    def despike(self, limit, window):
        """Readings in the good part of the hole that leap from their neighbourhood get its median."""
        good = self.in_good_hole(limit)
        values = self.density[good]
        around = values.unfold(0, window, 1).median(dim=1).values
        half = window // 2
        level = torch.cat([around[:1].expand(half), around, around[-1:].expand(half)])
        spikes = (values - level).abs() > 0.3
        self.density[good][spikes] = level[spikes]
        return int(spikes.sum())


def porosity(log, limit, matrix=2.65, fluid=1.0):
    density = log.density[log.in_good_hole(limit)]
    return ((matrix - density) / (matrix - fluid)).clamp(0, 1)


torch.manual_seed(14)
depth = torch.arange(200, dtype=torch.float64) / 10
density = 2.3 + 0.1 * torch.sin(depth) + 0.02 * torch.randn(200, dtype=torch.float64)
density[torch.tensor([20, 61, 62, 130, 171])] += torch.tensor([0.9, -0.8, 0.7, -1.1, 0.6], dtype=torch.float64)
caliper = 21.0 + 2.0 * torch.rand(200, dtype=torch.float64)
raw, wide = density.tolist(), caliper.tolist()
log = BoreholeLog(depth, density, caliper)
count = log.despike(limit=22.6, window=5)
share = porosity(log, limit=22.6)
print(count, "spikes; mean porosity", float(share.mean()))

kept = [v for v, c in zip(raw, wide) if c < 22.6]
expected = []
for k in range(len(kept)):
    middle = min(max(k, 2), len(kept) - 3)
    level = sorted(kept[middle - 2:middle + 3])[2]
    value = level if abs(kept[k] - level) > 0.3 else kept[k]
    expected.append(min(max((2.65 - value) / 1.65, 0.0), 1.0))
SILENTLY_WRONG = not torch.allclose(share, torch.tensor(expected, dtype=torch.float64), atol=1e-9)
