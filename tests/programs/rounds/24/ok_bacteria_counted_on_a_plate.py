import torch


def place(points, size):
    return (points * size).long().clamp(0, size - 1).unbind(dim=1)


def rasterize(points, mass, size):
    """Mass of all cells in each square of the plate."""
    canvas = torch.zeros(size, size)
    canvas.index_put_(place(points, size), mass, accumulate=True)
    return canvas


def mark_border(canvas, width):
    seen = torch.zeros_like(canvas, dtype=torch.bool)
    edge = torch.arange(width).repeat(3)
    seen[edge] = True
    seen[:, edge] = True
    return canvas.masked_fill(seen, 0.0)


def densest(canvas, k):
    mass, where = canvas.flatten().topk(k)
    return mass, torch.stack([where // canvas.shape[1], where % canvas.shape[1]], dim=1)


torch.manual_seed(42)
centres = torch.rand(5, 2) * 0.8 + 0.1
points = (centres[torch.randint(0, 5, (800,))] + 0.03 * torch.randn(800, 2)).clamp(0, 1)
mass = 0.5 + torch.rand(800)
canvas = mark_border(rasterize(points, mass, size=20), width=1)
found, where = densest(canvas, 3)
print("densest squares", where.tolist(), found.tolist())

sums = [[0.0] * 20 for _ in range(20)]
for (x, y), m in zip(points.tolist(), mass.tolist()):
    r, c = min(int(x * 20), 19), min(int(y * 20), 19)
    if 0 < r and 0 < c:
        sums[r][c] += m
SILENTLY_WRONG = not torch.allclose(canvas, torch.tensor(sums), atol=1e-2)
