import torch

torch.manual_seed(0)


class PaintedCloud:
    """Points with columns x, y, z, class id, score."""

    def __init__(self, points):
        self.cloud = torch.zeros(len(points), 5)
        self.cloud[:, :3] = points
        self.cloud[:, 3] = -1.0

    def paint(self, box, label, scores):
        low, high = box
        inside = ((self.cloud[:, :3] >= low) & (self.cloud[:, :3] <= high)).all(1)
        self.cloud[:, 3][inside] = float(label)
        self.cloud[inside, 4] = scores[inside]
        return inside

    def crop(self, inside):
        members = self.cloud[inside]
        members[:, :3] -= members[:, :3].mean(0)
        return members


points, scores = torch.rand(50, 3), torch.rand(50)
low, high = torch.tensor([0.2, 0.2, 0.0]), torch.tensor([0.8, 0.8, 1.0])
painted = PaintedCloud(points)
inside = painted.paint((low, high), label=3, scores=scores)
members = painted.crop(inside)

mask = (points[:, 0] >= 0.2) & (points[:, 0] <= 0.8) & (points[:, 1] >= 0.2) & (points[:, 1] <= 0.8)
labels = torch.where(mask, 3.0, -1.0)
expected = torch.cat([points, labels[:, None], (scores * mask)[:, None]], dim=1)
centred = points[mask] - points[mask].mean(0)
SILENTLY_WRONG = not (
    torch.allclose(painted.cloud, expected) and torch.allclose(members[:, :3], centred, atol=1e-6)
)
