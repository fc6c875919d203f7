import torch


def trajectory(series, window):
    columns = len(series) - window + 1
    return series.as_strided((window, columns), (1, 1))


def average_antidiagonals(matrix):
    rows, columns = matrix.shape
    place = torch.arange(rows)[:, None] + torch.arange(columns)
    total = torch.zeros(rows + columns - 1, dtype=matrix.dtype)
    count = torch.zeros_like(total)
    total.index_add_(0, place.flatten(), matrix.flatten())
    count.index_add_(0, place.flatten(), torch.ones_like(matrix).flatten())
    return total.div_(count)


def seasonal(series, window, rank):
    u, s, vh = torch.linalg.svd(trajectory(series, window), full_matrices=False)
    return average_antidiagonals((u[:, :rank] * s[:rank]) @ vh[:rank])


torch.manual_seed(14)
t = torch.arange(60, dtype=torch.float64)
series = torch.sin(0.4 * t) + 0.2 * torch.randn(60, dtype=torch.float64)
raw = series.clone()
part = seasonal(series, window=20, rank=2)

rows = torch.stack([raw[i:i + 41] for i in range(20)])
values, vectors = torch.linalg.eigh(rows @ rows.t())
projected = vectors[:, -2:] @ vectors[:, -2:].t() @ rows
flipped = projected.flip(0)
expected = torch.stack([flipped.diagonal(k).mean() for k in range(-19, 41)])
SILENTLY_WRONG = not (torch.allclose(part, expected) and torch.equal(series, raw))
