import torch

torch.manual_seed(0)
points = torch.cat([torch.randn(8, 2), torch.randn(8, 2) + 4])
centres = points[[0, 8]].clone()
for iteration in range(5):
    nearest = torch.cdist(points, centres).argmin(1)
    old = centres.clone()
    for k in range(len(centres)):
        centres[k] = points[nearest == k].mean(0)
    shift = (centres - old).norm()
    if shift < 1e-4:
        break
labels = torch.cdist(points, centres).argmin(1)
