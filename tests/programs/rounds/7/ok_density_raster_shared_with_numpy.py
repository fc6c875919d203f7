import numpy as np
import torch


class DensityRaster:
    def __init__(self, rows, columns):
        self.array = np.zeros((rows, columns), dtype=np.float32)
        self.raster = torch.from_numpy(self.array)

    def add(self, points):
        rows, columns = self.raster.shape
        cell = (points * torch.tensor([rows, columns])).long()
        flat = cell[:, 0] * columns + cell[:, 1]
        self.raster.view(-1).index_add_(0, flat, torch.ones(len(points)))

    def fade(self, factor):
        self.raster.mul_(factor)

    def shares(self):
        sums = self.array.sum(axis=1, keepdims=True)
        np.divide(self.array, sums, out=self.array, where=sums > 0)
        return self.raster


torch.manual_seed(101)
clouds = [torch.rand(200, 2), torch.rand(150, 2) ** 2, torch.rand(80, 2)]
density = DensityRaster(4, 6)
for cloud in clouds:
    density.fade(0.5)
    density.add(cloud)
shares = density.shares()

counts = torch.zeros(4, 6, dtype=torch.float64)
for weight, cloud in zip((0.25, 0.5, 1.0), clouds):
    for r in range(4):
        for c in range(6):
            inside = ((cloud[:, 0] * 4).long() == r) & ((cloud[:, 1] * 6).long() == c)
            counts[r, c] += weight * inside.sum()
SILENTLY_WRONG = not torch.allclose(shares.double(), counts / counts.sum(dim=1, keepdim=True), atol=1e-5)
