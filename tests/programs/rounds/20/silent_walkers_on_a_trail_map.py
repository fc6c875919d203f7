import torch


class TrailMap:
    def __init__(self, trails, width, huts):
        dense = torch.zeros(huts, huts, dtype=torch.float64)
        dense[trails[:, 0], trails[:, 1]] = width
        dense[trails[:, 1], trails[:, 0]] = width
        self.trails = dense.to_sparse_csr()
        self.huts = huts

    def widths(self):
        """Sum of the trail widths at each hut."""
        return (self.trails @ torch.ones(self.huts, 1, dtype=torch.float64)).squeeze(1)

    def walk(self):
        """Chances to take each trail, in proportion to its width."""
        walk = torch.sparse_csr_tensor(self.trails.crow_indices(), self.trails.col_indices(),
                                       self.trails.values(), size=(self.huts, self.huts))
        out = self.widths()
        many = self.trails.crow_indices().diff()
        walk.values().div_(out.repeat_interleave(many))
        return walk


def visits(trail_map, start, steps):
    walk = trail_map.walk().to_dense()
    crowd = start
    for _ in range(steps):
        crowd = crowd @ walk
    return crowd


def crowding(trail_map, start, steps):
    """Walkers at each hut per unit of trail width."""
    there = visits(trail_map, start, steps)
    return there / trail_map.widths()


trails = torch.tensor([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [1, 4], [2, 5], [5, 6], [6, 3]])
width = torch.tensor([2.0, 1.0, 3.0, 1.5, 1.0, 2.5, 0.5, 1.0, 4.0], dtype=torch.float64)
start = torch.tensor([30.0, 0.0, 0.0, 10.0, 0.0, 0.0, 20.0], dtype=torch.float64)
per_width = crowding(TrailMap(trails, width, huts=7), start, steps=6)
print("walkers per width", per_width.tolist())

full = [[0.0] * 7 for _ in range(7)]
for (a, b), w in zip(trails.tolist(), width.tolist()):
    full[a][b] = full[b][a] = w
crowd = start.tolist()
for _ in range(6):
    crowd = [sum(crowd[i] * full[i][j] / sum(full[i]) for i in range(7)) for j in range(7)]
expected = torch.tensor([c / sum(row) for c, row in zip(crowd, full)], dtype=torch.float64)
SILENTLY_WRONG = not torch.allclose(per_width, expected, atol=1e-9)
