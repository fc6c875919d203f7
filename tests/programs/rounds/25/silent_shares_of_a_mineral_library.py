import torch


class Library:
    """Grain counts of all thin sections in one table, cut up by `starts`."""

    def __init__(self, counts, starts, transform=None):
        self.counts = counts
        self.starts = starts
        self.transform = transform

    def __len__(self):
        return len(self.starts) - 1

    def __getitem__(self, number):
        section = {"x": self.counts[self.starts[number] : self.starts[number + 1]]}
        return self.transform(section) if self.transform else section


class RowShares:
    def __call__(self, section):
        x = section["x"]
        section["x"] = x.div_(x.sum(dim=1, keepdim=True).clamp(min=1.0))
        return section


torch.manual_seed(44)
starts = [0, 7, 12, 20, 26]
counts = torch.randint(0, 60, (26, 5)).float()
noted = counts.tolist()
library = Library(counts, starts, transform=RowShares())

quartz = [float(library[number]["x"][:, 0].mean()) for number in range(len(library))]
grains = [float(library.counts[a:b].sum()) for a, b in zip(starts, starts[1:])]
overall = sum(q * g for q, g in zip(quartz, grains)) / sum(grains)
print("quartz by section", [round(q, 3) for q in quartz], "weighted by grains", round(overall, 4))

share_sum = grain_sum = 0.0
for a, b in zip(starts, starts[1:]):
    rows = noted[a:b]
    grain = sum(map(sum, rows))
    share_sum += grain * sum(row[0] / max(sum(row), 1.0) for row in rows) / len(rows)
    grain_sum += grain
SILENTLY_WRONG = abs(overall - share_sum / grain_sum) > 1e-5 or abs(sum(grains) - grain_sum) > 0.5
