import torch


def climate(records, months):
    table = torch.zeros(12, records.shape[1], dtype=records.dtype)
    known = ~records.isnan()
    for month in range(12):
        rows = months == month
        share = torch.where(known[rows], records[rows], torch.zeros_like(records[rows]))
        table[month] = share.sum(dim=0) / known[rows].sum(dim=0).clamp(min=1)
    return table


class GapFiller:
    def __init__(self, records, months):
        self.usual = climate(records, months)

    def fill(self, records, months):
        filled = records.clone()
        gaps = filled.isnan()
        filled.masked_scatter_(gaps, self.usual[months])
        return filled


def heat_content(records, thickness):
    return (records * thickness).sum(dim=1)


torch.manual_seed(14)
months = torch.arange(48) % 12
season = 10 + 4 * torch.sin(months.double() * 0.5236)
records = season[:, None] - torch.tensor([0.0, 2.0, 5.0]) + 0.3 * torch.randn(48, 3, dtype=torch.float64)
records[torch.rand(48, 3) < 0.2] = float("nan")
thickness = torch.tensor([10.0, 30.0, 60.0], dtype=torch.float64)
heat = heat_content(GapFiller(records, months).fill(records, months), thickness)

expected = []
rows = records.tolist()
for t, row in enumerate(rows):
    total = 0.0
    for level, value in enumerate(row):
        if value != value:
            peers = [r[level] for k, r in enumerate(rows) if k % 12 == t % 12 and r[level] == r[level]]
            value = sum(peers) / max(len(peers), 1)
        total += value * thickness[level].item()
    expected.append(total)
SILENTLY_WRONG = not torch.allclose(heat, torch.tensor(expected, dtype=torch.float64), atol=1e-8)
