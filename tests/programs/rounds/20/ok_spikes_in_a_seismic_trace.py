import numpy as np
import torch


def robust_spread(traces, middle):
    """Median absolute deviation; the absolute values are made for this and may be reordered."""
    away = (traces - middle).abs().numpy()
    spread = np.median(away, axis=1, overwrite_input=True)
    return torch.from_numpy(spread)[:, None]


def despike(traces, limit, rounds):
    """Pulls samples that stick out back to the limit, a few times over."""
    clean = traces.clone()
    for _ in range(rounds):
        middle = torch.from_numpy(np.median(clean.numpy(), axis=1))[:, None]
        reach = limit * robust_spread(clean, middle)
        torch.clamp(clean, middle - reach, middle + reach, out=clean)
    return clean


torch.manual_seed(19)
traces = 0.2 * torch.randn(4, 160)
for row, start in enumerate([70, 85, 91, 110]):
    traces[row, start:] += torch.sin(torch.arange(160 - start) / 3.0)
traces[torch.arange(4), torch.tensor([12, 33, 40, 8])] = 9.0
rows = traces.tolist()
clean = despike(traces, limit=3.0, rounds=2)
print("loudest samples", clean.abs().max(dim=1).values.tolist())

expected = []
for row in rows:
    x = np.array(row, dtype=np.float32)
    for _ in range(2):
        m = np.median(x)
        d = 3 * np.median(np.abs(x - m))
        x = np.minimum(np.maximum(x, m - d), m + d)
    expected.append(x)
untouched = torch.equal(traces, torch.tensor(rows))
SILENTLY_WRONG = not (untouched and torch.allclose(clean, torch.from_numpy(np.stack(expected)), atol=1e-5))
