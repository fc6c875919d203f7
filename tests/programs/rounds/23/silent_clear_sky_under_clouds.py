import torch


class Composite:
    """Clear-sky reflectance of a coast, built from the brightest part of the cloud-free year."""

    def __init__(self, reflectance):
        self.reflectance = reflectance

    def scenes(self, cloudy):
        """One scene for each day: the composite without the pixels under clouds."""
        scenes, cloudy = torch.broadcast_tensors(self.reflectance, cloudy)
        scenes.masked_fill_(cloudy, 0.0)
        return scenes


def daily_means(scenes, cloudy):
    clear = (~cloudy).sum(dim=(1, 2)).clamp(min=1)
    return scenes.sum(dim=(1, 2)) / clear


def cloud_maps(days, rows, columns, share):
    maps = torch.rand(days, rows, columns) < share
    maps[0] = False
    return maps


torch.manual_seed(2)
rows, columns = 12, 16
sea = 0.05 + 0.02 * torch.rand(rows, columns, dtype=torch.float64)
land = 0.25 + 0.1 * torch.rand(rows, columns, dtype=torch.float64)
reflectance = torch.where(torch.arange(columns) < 7, sea, land)
table = reflectance.tolist()
cloudy = cloud_maps(6, rows, columns, 0.3)
scenes = Composite(reflectance).scenes(cloudy)
means = daily_means(scenes, cloudy)
print("mean reflectance by day", means.tolist())

expected = []
for day in cloudy.tolist():
    seen = [table[r][c] for r in range(rows) for c in range(columns) if not day[r][c]]
    expected.append(sum(seen) / len(seen))
SILENTLY_WRONG = not torch.allclose(means, torch.tensor(expected, dtype=torch.float64), atol=1e-9)
