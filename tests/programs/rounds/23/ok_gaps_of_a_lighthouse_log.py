import torch


class LighthouseLog:
    """Hourly sight in sea miles; fog hours and broken sensors are mended watch by watch."""

    def __init__(self, sight):
        self.sight = sight

    def watch(self, start, hours):
        return self.sight[start:start + hours]

    def mend(self, start, hours, ceiling):
        part = self.watch(start, hours)
        broken = part < 0
        part[broken] = part[~broken].mean()
        part.clamp_(max=ceiling)
        return int(broken.sum())

    def dim(self, hours, factor):
        """Hours of haze, given by their numbers, count for less."""
        self.sight[hours] *= factor


torch.manual_seed(42)
sight = 2.0 + 18.0 * torch.rand(48, dtype=torch.float64)
sight[torch.tensor([3, 9, 17, 30, 31, 44])] = -1.0
raw = sight.tolist()
log = LighthouseLog(sight)
mended = [log.mend(start, 12, ceiling=16.0) for start in range(0, 48, 12)]
log.dim(torch.tensor([5, 20, 41]), 0.5)
log.watch(24, 12)[:6] += 0.25
print("hours mended by watch", mended, "mean sight", float(log.sight.mean()))

expected = []
for start in range(0, 48, 12):
    part = raw[start:start + 12]
    fine = [v for v in part if v >= 0]
    level = sum(fine) / len(fine)
    expected += [min(v if v >= 0 else level, 16.0) for v in part]
for hour in (5, 20, 41):
    expected[hour] *= 0.5
for hour in range(24, 30):
    expected[hour] += 0.25
SILENTLY_WRONG = not torch.allclose(log.sight, torch.tensor(expected, dtype=torch.float64), atol=1e-9)
