import torch


def target_corners(columns, rows, pitch):
    along = pitch * torch.arange(columns, dtype=torch.float32)
    across = pitch * torch.arange(rows, dtype=torch.float32)
    return torch.meshgrid(across, along, indexing="ij")


def bend(across, along, damage):
    for (row, column), (down, right) in damage.items():
        across[row, column] += down
        along[row, column] += right
    return torch.stack([across, along], dim=-1)


def affine_fit(points, pixels):
    rows = torch.cat([points.flatten(0, 1), torch.ones(points[..., 0].numel(), 1)], dim=1)
    solution = torch.linalg.lstsq(rows, pixels.flatten(0, 1)).solution
    return solution, (rows @ solution - pixels.flatten(0, 1)).norm(dim=1)


damage = {(0, 0): (0.4, -0.3), (2, 5): (-0.2, 0.6), (4, 3): (0.5, 0.1)}
across, along = target_corners(columns=7, rows=5, pitch=3.0)
points = bend(across, along, damage)

expected = torch.zeros(5, 7, 2)
for row in range(5):
    for column in range(7):
        down, right = damage.get((row, column), (0.0, 0.0))
        expected[row, column, 0] = 3.0 * row + down
        expected[row, column, 1] = 3.0 * column + right
pixels = expected @ torch.tensor([[11.0, 0.4], [-0.3, 10.5]]) + torch.tensor([240.0, 180.0])
_, residuals = affine_fit(points, pixels)
SILENTLY_WRONG = not (torch.allclose(points, expected) and residuals.max() < 1e-2)
