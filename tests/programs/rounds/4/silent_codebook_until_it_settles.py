import torch

torch.manual_seed(11)
means = torch.tensor([[0.0, 0.0], [3.0, 0.5], [0.5, 4.0]])
points = torch.cat([torch.randn(40, 2) + m for m in means])

centres = points[:3].clone()
for iteration in range(100):
    old_centres = centres
    label = torch.cdist(points, centres).argmin(dim=1)
    for k in range(3):
        if (label == k).any():
            centres[k] = points[label == k].mean(dim=0)
    if (centres - old_centres).norm() < 1e-5:
        break
inertia = torch.cdist(points, centres).min(dim=1).values.pow(2).sum()

start = points[:3]
for _ in range(100):
    label = torch.cdist(points, start).argmin(dim=1)
    moved = torch.stack([points[label == k].mean(dim=0) for k in range(3)])
    if torch.allclose(moved, start, atol=1e-6):
        break
    start = moved
expected = torch.cdist(points, start).min(dim=1).values.pow(2).sum()
SILENTLY_WRONG = not torch.allclose(inertia, expected, rtol=1e-4)
