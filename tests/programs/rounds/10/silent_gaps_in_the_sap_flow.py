import numpy as np
import torch


def daily_cycle(readings, per_day):
    filled = np.nan_to_num(readings.numpy(), copy=False, nan=0.0)
    spectrum = np.abs(np.fft.rfft(filled, axis=-1))
    return torch.from_numpy(spectrum)[:, readings.shape[1] // per_day]


def share_of_gaps(readings):
    return readings.isnan().double().mean(dim=1)


def mean_flow(readings):
    present = ~readings.isnan()
    return torch.where(present, readings, 0).sum(dim=1) / present.sum(dim=1)


def tree_report(readings, per_day=24):
    return {
        "cycle": daily_cycle(readings, per_day),
        "gaps": share_of_gaps(readings),
        "flow": mean_flow(readings),
    }


torch.manual_seed(14)
hours = torch.arange(240, dtype=torch.float64)
readings = 3 + torch.sin(2 * torch.pi * hours / 24) + 0.1 * torch.randn(4, 240, dtype=torch.float64)
lost = torch.rand(4, 240) < torch.tensor([[0.05], [0.1], [0.2], [0.3]])
flow = [row[~gap].mean() for row, gap in zip(readings, lost)]
readings[lost] = torch.nan
report = tree_report(readings)

expected = torch.stack([lost.double().mean(dim=1), torch.stack(flow)])
SILENTLY_WRONG = not torch.allclose(torch.stack([report["gaps"], report["flow"]]), expected)
