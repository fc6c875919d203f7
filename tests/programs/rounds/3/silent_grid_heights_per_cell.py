import torch

torch.manual_seed(0)


class BirdsEyeGrid:
    """Square grid over the ground: number of points and mean height per cell."""

    def __init__(self, size=8):
        self.size = size
        self.cells = torch.zeros(size, size, 2)

    def cell_of(self, points):
        ij = (points[:, :2] * self.size).long().clamp_(0, self.size - 1)
        return ij[:, 0] * self.size + ij[:, 1]

    def rasterise(self, points):
        flat = self.cell_of(points)
        count = torch.zeros(self.size ** 2).index_add_(0, flat, torch.ones(len(points)))
        height = torch.zeros(self.size ** 2).index_add_(0, flat, points[:, 2])
        count = count.view(self.size, self.size)
        height = height.view(self.size, self.size)
        occupied = count > 0
        self.cells[..., 0] = count
        self.cells[occupied][:, 1] = height[occupied] / count[occupied]
        return self.cells.permute(2, 0, 1)


points = torch.rand(60, 3)
grid = BirdsEyeGrid()
image = grid.rasterise(points)

expected = torch.zeros(8, 8)
cells = [(int(p[0] * 8), int(p[1] * 8)) for p in points]
for i, j in set(cells):
    inside = [float(p[2]) for p, c in zip(points, cells) if c == (i, j)]
    expected[i, j] = sum(inside) / len(inside)
SILENTLY_WRONG = not torch.allclose(image[1], expected, atol=1e-5)
