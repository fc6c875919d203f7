import numpy as np
import torch


def tide(hours, constituents):
    heights = np.zeros_like(hours)
    for amplitude, period, phase in constituents:
        heights += amplitude * np.cos(2 * np.pi * hours / period + phase)
    return heights


def harmonic_fit(hours, levels, periods):
    columns = [torch.ones_like(hours)]
    for period in periods:
        angle = 2 * torch.pi * hours / period
        columns += [angle.cos(), angle.sin()]
    design = torch.stack(columns, dim=1)
    return torch.linalg.lstsq(design, levels[:, None]).solution.squeeze(1)


constituents = [(1.2, 12.42, 0.3), (0.4, 12.0, -0.8), (0.2, 25.82, 1.1)]
periods = [period for _, period, _ in constituents]
hours = np.arange(0, 24 * 40, dtype=np.float64)
heights = tide(hours, constituents)
levels = torch.from_numpy(heights)
heights = heights + 3.5
chart_datum = torch.from_numpy(heights)
chart_datum -= chart_datum.min()

fitted = harmonic_fit(torch.from_numpy(hours), levels, periods)
amplitudes = torch.hypot(fitted[1::2], fitted[2::2])
right_fit = np.allclose(amplitudes.numpy(), [1.2, 0.4, 0.2], atol=1e-6)
centred = abs(fitted[0].item()) < 1e-6
again = np.array([
    sum(a * np.cos(2 * np.pi * h / p + f) for a, p, f in constituents) for h in hours
])
right_datum = np.allclose(heights, again - again.min(), atol=1e-9)
SILENTLY_WRONG = not (right_fit and centred and right_datum)
