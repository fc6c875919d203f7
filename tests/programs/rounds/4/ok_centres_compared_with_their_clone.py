import torch

torch.manual_seed(31)
points = torch.nn.functional.normalize(torch.randn(90, 3), dim=1)

centres = points[:4].clone()
sums = torch.zeros(4, 3)
for iteration in range(100):
    old_centres = centres.clone()
    label = (points @ centres.t()).argmax(dim=1)
    sums.zero_().index_add_(0, label, points)
    length = sums.norm(dim=1, keepdim=True)
    centres.copy_(sums).div_(length)
    if (centres - old_centres).norm() < 1e-6:
        break

start = points[:4]
for rounds in range(100):
    label = (points @ start.t()).argmax(dim=1)
    moved = torch.stack([points[label == k].sum(dim=0) for k in range(4)])
    moved = torch.nn.functional.normalize(moved, dim=1)
    shift, start = (moved - start).norm(), moved
    if shift < 1e-6:
        break
SILENTLY_WRONG = rounds != iteration or not torch.allclose(centres, start, atol=1e-5)
