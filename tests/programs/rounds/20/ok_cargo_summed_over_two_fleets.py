from collections import defaultdict
from dataclasses import dataclass, field

import torch


@dataclass
class Voyage:
    goods: str
    tons: torch.Tensor


@dataclass
class Fleet:
    flag: str
    voyages: list = field(default_factory=list)

    def load(self, goods, tons):
        self.voyages.append(Voyage(goods, tons))

    def tons(self):
        return sum(voyage.tons for voyage in self.voyages)


class Harbour:
    def __init__(self, fleets, weeks):
        self.fleets = fleets
        self.weeks = weeks

    def totals(self):
        total = defaultdict(lambda: torch.zeros(self.weeks))
        for fleet in self.fleets:
            for voyage in fleet.voyages:
                total[voyage.goods] += voyage.tons
        return dict(total)

    def busiest(self):
        """Running maximum of all goods together."""
        total = torch.zeros(self.weeks)
        for tons in self.totals().values():
            total += tons
        return torch.cummax(total, dim=0).values

    def parts(self):
        tons = torch.stack([fleet.tons() for fleet in self.fleets])
        return tons / tons.sum(dim=0)


torch.manual_seed(25)
weeks = 20
draw = {key: 10 * torch.rand(weeks) for key in ("grain", "salt", "iron", "salt again", "grain again")}
dutch, danish = Fleet("nl"), Fleet("dk")
dutch.load("grain", draw["grain"])
dutch.load("salt", draw["salt"])
danish.load("salt", draw["salt again"])
danish.load("iron", draw["iron"])
danish.load("grain", draw["grain again"])
harbour = Harbour([dutch, danish], weeks)
busiest = harbour.busiest()
parts, totals = harbour.parts(), harbour.totals()
print("parts in the last week", parts[:, -1].tolist(), "busiest", busiest[-1].item())

rows = {key: value.tolist() for key, value in draw.items()}
right = True
for w in range(weeks):
    nl = rows["grain"][w] + rows["salt"][w]
    dk = rows["salt again"][w] + rows["iron"][w] + rows["grain again"][w]
    right = right and abs(float(parts[0, w]) - nl / (nl + dk)) < 1e-5
    right = right and abs(float(totals["salt"][w]) - rows["salt"][w] - rows["salt again"][w]) < 1e-4
    right = right and abs(float(busiest[w]) - max(sum(r[k] for r in rows.values()) for k in range(w + 1))) < 1e-4
SILENTLY_WRONG = not right
