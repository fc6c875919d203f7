import torch


class Sightings:
    def __init__(self, ponds):
        self.ponds, self.links, self.counts = ponds, [], []

    def note(self, a, b):
        self.links.append((a, b))
        self.counts.append(1.0)

    def matrix(self):
        places = torch.tensor(self.links).T
        size = (self.ponds, self.ponds)
        return torch.sparse_coo_tensor(places, torch.tensor(self.counts), size, check_invariants=True)


def walk_matrix(sightings):
    walk = sightings.coalesce()
    totals = torch.sparse.sum(walk, dim=1).to_dense()
    walk.values().div_(totals[walk.indices()[0]])
    return walk


def settle(walk, steps):
    share = torch.full((walk.shape[0], 1), 1 / walk.shape[0])
    for _ in range(steps):
        share = torch.sparse.mm(walk.t(), share)
    return share[:, 0]


def report(book):
    sightings = book.matrix()
    share = settle(walk_matrix(sightings), 10)
    return share, torch.sparse.sum(sightings.coalesce(), dim=1).to_dense()


torch.manual_seed(34)
book, pairs = Sightings(5), torch.randint(0, 5, (80, 2))
for a, b in pairs.tolist():
    book.note(a, b)
share, seen = report(book)

table = torch.zeros(5, 5)
for a, b in pairs.tolist():
    table[a, b] += 1
walk = table / table.sum(dim=1, keepdim=True)
expected = torch.full((5,), 0.2) @ torch.linalg.matrix_power(walk, 10)
SILENTLY_WRONG = not (torch.equal(seen, table.sum(dim=1)) and torch.allclose(share, expected, atol=1e-5))
