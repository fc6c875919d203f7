import torch


class CanalMap:
    def __init__(self, canals, width, locks):
        dense = torch.zeros(locks, locks, dtype=torch.float64)
        dense[canals[:, 0], canals[:, 1]] = width
        dense[canals[:, 1], canals[:, 0]] = width
        self.canals = dense.to_sparse_csr()
        self.locks = locks

    def widths(self):
        return (self.canals @ torch.ones(self.locks, 1, dtype=torch.float64)).squeeze(1)

    def walk(self):
        chances = self.canals.values().clone()
        many = self.canals.crow_indices().diff()
        chances.div_(self.widths().repeat_interleave(many))
        return torch.sparse_csr_tensor(self.canals.crow_indices(), self.canals.col_indices(), chances,
                                       size=(self.locks, self.locks))


def rank(canal_map, home, stay, steps):
    """Where paddlers are who go home now and then, per width of water."""
    back = canal_map.walk().to_dense().T
    there = home.clone()
    for _ in range(steps):
        there = back @ there
        there.mul_(stay).add_(home, alpha=1 - stay)
    return there / canal_map.widths()


canals = torch.tensor([[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 5], [5, 3]])
width = torch.tensor([4.0, 2.0, 3.0, 1.0, 2.5, 5.0, 1.5], dtype=torch.float64)
home = torch.tensor([0.5, 0.0, 0.0, 0.0, 0.25, 0.25], dtype=torch.float64)
town = CanalMap(canals, width, locks=6)
crowd = rank(town, home, stay=0.8, steps=60)
print("crowd per width", crowd.tolist())

full = torch.zeros(6, 6, dtype=torch.float64)
for (a, b), w in zip(canals.tolist(), width.tolist()):
    full[a, b] = full[b, a] = w
stride = full / full.sum(dim=1, keepdim=True)
fixed = torch.linalg.solve(torch.eye(6, dtype=torch.float64) - 0.8 * stride.T, 0.2 * home)
expected = fixed / full.sum(dim=1)
SILENTLY_WRONG = not torch.allclose(crowd, expected, atol=1e-5)
