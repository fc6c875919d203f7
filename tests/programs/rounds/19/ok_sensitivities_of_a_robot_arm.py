import torch


class Arm:
    def __init__(self, lengths):
        self.lengths = torch.tensor(lengths, dtype=torch.float64)

    def tip(self, angles):
        bent = angles.cumsum(dim=0)
        return torch.stack([
            (self.lengths * bent.cos()).sum(),
            (self.lengths * bent.sin()).sum(),
            bent[-1],
        ])


def jacobian(function, point):
    """One backward per output; the gradient is copied into its row and cleared again."""
    leaf = point.detach().clone().requires_grad_()
    out = function(leaf)
    rows = torch.empty(len(out), len(point), dtype=point.dtype)
    pick = torch.zeros_like(out)
    for i in range(len(out)):
        pick.zero_()
        pick[i] = 1.0
        out.backward(pick, retain_graph=True)
        rows[i] = leaf.grad
        leaf.grad.zero_()
    return out.detach(), rows


def reach(arm, angles, goal, steps, damping=0.05):
    angles, path = angles.clone(), []
    for _ in range(steps):
        tip, slopes = jacobian(arm.tip, angles)
        inner = slopes @ slopes.T
        inner.diagonal().add_(damping)
        angles += slopes.T @ torch.linalg.solve(inner, goal - tip)
        path.append(angles.clone())
    return torch.stack(path)


arm = Arm([1.0, 0.8, 0.5, 0.3])
begin = torch.tensor([0.1, 0.2, -0.3, 0.4], dtype=torch.float64)
goal = torch.tensor([1.2, 1.1, 0.7], dtype=torch.float64)
path = reach(arm, begin, goal, steps=6)

angles, expected = begin, []
for _ in range(6):
    bent = torch.cumsum(angles, dim=0)
    x, y = arm.lengths * bent.cos(), arm.lengths * bent.sin()
    slopes = torch.stack([
        torch.stack([-y[i:].sum() for i in range(4)]),
        torch.stack([x[i:].sum() for i in range(4)]),
        torch.ones(4, dtype=torch.float64),
    ])
    error = goal - torch.stack([x.sum(), y.sum(), bent[-1]])
    inner = slopes @ slopes.T + 0.05 * torch.eye(3, dtype=torch.float64)
    angles = angles + slopes.T @ torch.linalg.solve(inner, error)
    expected.append(angles)
SILENTLY_WRONG = not torch.allclose(path, torch.stack(expected))
