import torch


def to_cells(points, side, extent):
    """Row and column of each point on a square grid."""
    cells = (points / extent * side).long().clamp(0, side - 1)
    return cells[:, 1], cells[:, 0]


def nearest_image(points, ranges, side, extent):
    """Range of the nearest shot in each cell, infinite where there is none."""
    image = torch.full((side, side), float("inf"))
    rows, cols = to_cells(points, side, extent)
    image[rows, cols] = ranges
    return image


def fill_holes(image):
    padded = torch.nn.functional.pad(image, (1, 1, 1, 1), value=float("inf"))
    around = torch.stack([padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]])
    return torch.where(image.isinf(), around.amin(dim=0), image)


def snow_depth(points, ranges, bare, flight, side, extent):
    top = flight - fill_holes(nearest_image(points, ranges, side, extent))
    return (top - bare).clamp(min=0)


torch.manual_seed(14)
side, extent, flight = 12, 60.0, 40.0
bare = 5 + 0.2 * torch.randn(side, side)
points = torch.rand(900, 2) * extent
rows, cols = to_cells(points, side, extent)
snow = 1 + 0.3 * torch.sin(points[:, 0] / 9)
branch = (torch.rand(900) < 0.3) * torch.rand(900) * 0.4
ranges = flight - bare[rows, cols] - snow - branch
depth = snow_depth(points, ranges, bare, flight, side, extent)
print("mean depth", depth.mean().item())

nearest = {}
for r, c, away in zip(rows.tolist(), cols.tolist(), ranges.tolist()):
    nearest[r, c] = min(away, nearest.get((r, c), float("inf")))
wrong = False
for (r, c), away in nearest.items():
    wrong = wrong or abs(depth[r, c].item() - (flight - away - bare[r, c].item())) > 1e-3
SILENTLY_WRONG = wrong
