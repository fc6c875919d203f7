import torch


class PigmentLibrary:
    """Spectra of paints in one table; sums are noted before the table is turned into shares once."""

    def __init__(self, table, starts):
        self.table = table
        self.starts = starts
        self.light = None

    def turn_into_shares(self):
        if self.light is None:
            self.light = self.table.sum(dim=1)
            self.table.div_(self.light[:, None])
        return self

    def __getitem__(self, number):
        rows = slice(self.starts[number], self.starts[number + 1])
        return {"x": self.table[rows], "light": self.light[rows]}


def darken(paint, factor):
    return {"x": paint["x"], "light": paint["light"].mul(factor)}


torch.manual_seed(45)
table = 1.0 + torch.randint(0, 40, (20, 6)).float()
noted = table.tolist()
starts = [0, 5, 9, 16, 20]
library = PigmentLibrary(table, starts).turn_into_shares()
reds = []
for epoch in range(3):
    library.turn_into_shares()
    paints = [darken(library[number], 0.5) for number in range(4)]
    reds.append([float((paint["x"][:, 0] * paint["light"]).mean()) for paint in paints])
print("red of each paint", [round(r, 3) for r in reds[-1]])

expected = [sum(0.5 * row[0] for row in noted[a:b]) / (b - a) for a, b in zip(starts, starts[1:])]
SILENTLY_WRONG = not torch.allclose(torch.tensor(reds), torch.tensor([expected] * 3), atol=1e-3) or not torch.allclose(
    library.light, torch.tensor([sum(row) for row in noted])
)
