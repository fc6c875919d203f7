import torch


class Visits:
    def __init__(self, hives):
        self.hives, self.links, self.counts = hives, [], []

    def note(self, a, b, count):
        self.links.append((a, b))
        self.counts.append(float(count))

    def matrix(self):
        places = torch.tensor(self.links).T
        size = (self.hives, self.hives)
        return torch.sparse_coo_tensor(places, torch.tensor(self.counts), size, check_invariants=True).coalesce()


def walk_matrix(visits):
    walk = visits.coalesce()
    totals = torch.sparse.sum(walk, dim=1).to_dense()
    walk.values().div_(totals[walk.indices()[0]])
    return walk


def spread(visits, start, steps):
    walk, share = walk_matrix(visits), start
    for _ in range(steps):
        share = torch.sparse.mm(walk.t(), share[:, None])[:, 0]
    return share


def report(book, start):
    visits = book.matrix()
    share = spread(visits, start, steps=8)
    busiest = torch.sparse.sum(visits, dim=1).to_dense()
    return share, busiest


torch.manual_seed(33)
book, table = Visits(6), torch.randint(1, 30, (6, 6)) * (torch.rand(6, 6) < 0.6)
table = table + torch.eye(6, dtype=torch.long)
for a, b in table.nonzero().tolist():
    book.note(a, b, table[a, b])
share, busiest = report(book, torch.full((6,), 1 / 6))
SILENTLY_WRONG = not torch.allclose(busiest, table.sum(dim=1).float())
