import torch


def climate(records, months):
    table = torch.zeros(12, records.shape[1], dtype=records.dtype)
    for month in range(12):
        table[month] = records[months == month].nanmean(dim=0)
    return table.nan_to_num_(0.0)


class GapFiller:
    def __init__(self, records, months):
        self.usual = climate(records, months)

    def fill(self, records, months):
        gaps = records.isnan()
        records.masked_scatter_(gaps, self.usual[months][gaps])
        return gaps


def heat_content(records, months, thickness):
    gaps = GapFiller(records, months).fill(records, months)
    return (records * thickness).sum(dim=1), gaps.sum().item()


torch.manual_seed(14)
months = torch.arange(48) % 12
season = 10 + 4 * torch.sin(months.double() * 0.5236)
records = season[:, None] - torch.tensor([0.0, 2.0, 5.0]) + 0.3 * torch.randn(48, 3, dtype=torch.float64)
records[torch.rand(48, 3) < 0.2] = float("nan")
thickness = torch.tensor([10.0, 30.0, 60.0], dtype=torch.float64)
rows = records.tolist()
heat, filled = heat_content(records, months, thickness)

expected, missing = [], 0
for t, row in enumerate(rows):
    total = 0.0
    for level, value in enumerate(row):
        if value != value:
            missing += 1
            peers = [r[level] for k, r in enumerate(rows) if k % 12 == t % 12 and r[level] == r[level]]
            value = sum(peers) / max(len(peers), 1)
        total += value * thickness[level].item()
    expected.append(total)
same = torch.allclose(heat, torch.tensor(expected, dtype=torch.float64), atol=1e-8)
SILENTLY_WRONG = not (same and filled == missing)
