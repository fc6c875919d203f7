import numpy as np
import torch


class SnowStation:
    def __init__(self, depth):
        self.missing = depth.isnan()
        self.mean = depth.nanmean(dim=1)
        self.depth = depth
        for row, mean in zip(self.depth.numpy(), self.mean.tolist()):
            np.nan_to_num(row, copy=False, nan=mean)

    def share_of_gaps(self):
        return self.missing.double().mean(dim=1)

    def weekly(self, per_week=7):
        centred = self.depth - self.mean[:, None]
        return torch.fft.rfft(centred, dim=1).abs()[:, self.depth.shape[1] // per_week]


torch.manual_seed(114)
days = torch.arange(140, dtype=torch.float64)
depth = 80 + 10 * torch.cos(2 * torch.pi * days / 7) + torch.randn(3, 140, dtype=torch.float64)
lost = torch.rand(3, 140) < torch.tensor([[0.05], [0.15], [0.25]])
whole = depth.tolist()
depth[lost] = torch.nan
station = SnowStation(depth)

shares, means, weekly = [], [], []
for row, gaps in zip(whole, lost.tolist()):
    present = [value for value, gap in zip(row, gaps) if not gap]
    mean = sum(present) / len(present)
    centred = np.array([0.0 if gap else value - mean for value, gap in zip(row, gaps)])
    wave = np.exp(-2j * np.pi * np.arange(140) / 7)
    shares.append(sum(gaps) / 140)
    means.append(mean)
    weekly.append(abs((centred * wave).sum()))
result = torch.stack([station.share_of_gaps(), station.mean, station.weekly()])
SILENTLY_WRONG = not torch.allclose(result, torch.tensor([shares, means, weekly], dtype=torch.float64))
