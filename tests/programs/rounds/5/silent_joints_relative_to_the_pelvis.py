import torch


def root_relative(joints, root=0):
    joints -= joints[:, root:root + 1]
    return joints


def mpjpe(predicted, target):
    predicted = root_relative(predicted.clone())
    target = root_relative(target.clone())
    return (predicted - target).norm(dim=-1).mean()


torch.manual_seed(5)
target = torch.randn(24, 17, 3) + torch.tensor([0.0, 1.0, 4.0])
camera_shift = torch.randn(24, 1, 3)
predicted = target + 0.05 * torch.randn(24, 17, 3) + camera_shift

error = mpjpe(predicted, target)

roots = [(p[0].tolist(), t[0].tolist()) for p, t in zip(predicted, target)]
expected = 0.0
for (p0, t0), p, t in zip(roots, predicted, target):
    difference = (p - torch.tensor(p0)) - (t - torch.tensor(t0))
    expected += difference.norm(dim=-1).mean().item() / 24
SILENTLY_WRONG = abs(error.item() - expected) > 1e-4
