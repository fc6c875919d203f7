import math

import torch


def transform_boxes(matrix, boxes, mode="xyxy"):
    """Boxes under an affine map of the picture, as upright boxes of the moved corners."""
    if mode == "xywh":
        boxes[..., 2] = boxes[..., 0] + boxes[..., 2]
        boxes[..., 3] = boxes[..., 1] + boxes[..., 3]
    corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)
    moved = corners @ matrix[:, :2].T + matrix[:, 2]
    low, high = moved.amin(dim=1), moved.amax(dim=1)
    if mode == "xywh":
        return torch.cat([low, high - low], dim=1)
    return torch.cat([low, high], dim=1)


def mirror(width):
    return torch.tensor([[-1.0, 0.0, width], [0.0, 1.0, 0.0]], dtype=torch.float64)


def turn(degrees):
    a = math.radians(degrees)
    return torch.tensor([[math.cos(a), -math.sin(a), 0.0], [math.sin(a), math.cos(a), 0.0]], dtype=torch.float64)


class HarbourViews:
    """Each aerial picture of the harbour is shown plain, mirrored and turned."""

    def __init__(self, width):
        self.maps = [mirror(width), turn(10.0), turn(-10.0)]

    def __call__(self, boats):
        return [transform_boxes(matrix, boats, mode="xywh") for matrix in self.maps]


torch.manual_seed(23)
corner = 400 * torch.rand(12, 2, dtype=torch.float64)
size = 10 + 30 * torch.rand(12, 2, dtype=torch.float64)
boats = torch.cat([corner, size], dim=1)
views = HarbourViews(width=512.0)(boats)
print("mean area of the boats", [float((v[:, 2] * v[:, 3]).mean()) for v in views])

expected = []
for matrix in (mirror(512.0), turn(10.0), turn(-10.0)):
    rows = []
    for (x, y), (w, h) in zip(corner.tolist(), size.tolist()):
        points = [matrix @ torch.tensor([px, py, 1.0], dtype=torch.float64)
                  for px, py in ((x, y), (x + w, y), (x + w, y + h), (x, y + h))]
        points = torch.stack(points)
        rows.append(torch.cat([points.amin(0), points.amax(0) - points.amin(0)]))
    expected.append(torch.stack(rows))
SILENTLY_WRONG = not all(torch.allclose(v, e, atol=1e-8) for v, e in zip(views, expected))
