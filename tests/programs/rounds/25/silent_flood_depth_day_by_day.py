import torch
from torch.nn.functional import conv2d


def spread_kernel(share):
    kernel = torch.zeros(1, 1, 3, 3)
    kernel[0, 0, 1, 1] = 1 - 4 * share
    for row, column in ((0, 1), (1, 0), (1, 2), (2, 1)):
        kernel[0, 0, row, column] = share
    return kernel


def flood(terrain, river, days, share=0.15, soak=0.9):
    """Water over a valley, one page of the answer for each day."""
    kernel = spread_kernel(share)
    depth = torch.zeros_like(terrain).unsqueeze(-1).expand(-1, -1, days)
    depth[:, :, 0] = river
    water = river
    for day in range(1, days):
        water = soak * conv2d(water[None, None], kernel, padding=1)[0, 0]
        depth[:, :, day] = water
    return depth


torch.manual_seed(5)
terrain = torch.rand(9, 11)
river = torch.zeros(9, 11)
river[4] = 2.0
depth = flood(terrain, river, days=6)
for day in range(6):
    print("day", day, "water", round(float(depth[:, :, day].sum()), 3))

rows = river.tolist()
totals = []
for day in range(6):
    totals.append(sum(map(sum, rows)))
    padded = [[0.0] * 13] + [[0.0] + row + [0.0] for row in rows] + [[0.0] * 13]
    rows = [
        [
            0.9 * (0.4 * padded[i][j] + 0.15 * (padded[i - 1][j] + padded[i + 1][j] + padded[i][j - 1] + padded[i][j + 1]))
            for j in range(1, 12)
        ]
        for i in range(1, 10)
    ]
SILENTLY_WRONG = not torch.allclose(depth.sum(dim=(0, 1)), torch.tensor(totals), atol=1e-3)
