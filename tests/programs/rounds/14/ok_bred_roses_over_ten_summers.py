import torch


class Bed:
    def __init__(self, genes, seed):
        self.genes = genes
        self.dice = torch.Generator().manual_seed(seed)

    def cross(self, first, second):
        cut = int(torch.randint(1, self.genes.shape[1], (1,), generator=self.dice))
        pair = self.genes[[first, second]]
        pair[:, cut:] = pair[[1, 0], cut:]
        return pair

    def mutate(self, rows, chance=0.1):
        hit = torch.rand(rows.shape, generator=self.dice) < chance
        rows[hit] = 1 - rows[hit]
        return rows

    def summer(self, value):
        order = value(self.genes).argsort(descending=True, stable=True)
        self.genes = self.genes[order]
        half = len(self.genes) // 2
        for k in range(0, half, 2):
            self.genes[half + k:half + k + 2] = self.mutate(self.cross(k, k + 1))


def bloom(genes):
    return (genes * torch.arange(1, genes.shape[1] + 1)).sum(dim=1)


torch.manual_seed(361)
start = torch.randint(0, 2, (8, 12))
bed, best = Bed(start.clone(), seed=7), []
for _ in range(10):
    bed.summer(bloom)
    best.append(int(bloom(bed.genes).max()))

dice, rows = torch.Generator().manual_seed(7), start.tolist()


def price(row):
    return sum((i + 1) * gene for i, gene in enumerate(row))


expected = []
for _ in range(10):
    rows = sorted(rows, key=price, reverse=True)[:4]
    for k in (0, 2):
        cut = int(torch.randint(1, 12, (1,), generator=dice))
        young = [rows[k][:cut] + rows[k + 1][cut:], rows[k + 1][:cut] + rows[k][cut:]]
        hit = (torch.rand(2, 12, generator=dice) < 0.1).tolist()
        rows = rows + [[1 - g if h else g for g, h in zip(row, marks)] for row, marks in zip(young, hit)]
    expected.append(max(map(price, rows)))
SILENTLY_WRONG = not (best == expected and bed.genes.tolist() == rows)
