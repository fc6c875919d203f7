import torch


class Aquifer:
    """Water heads on a square of cells, with the conductance of each face."""

    def __init__(self, side, seed):
        dice = torch.Generator().manual_seed(seed)
        self.side = side
        self.across = 0.2 + torch.rand(side, side - 1, generator=dice, dtype=torch.float64)
        self.down = 0.2 + torch.rand(side - 1, side, generator=dice, dtype=torch.float64)

    def outflow(self, head):
        head = head.view(self.side, self.side)
        flow = 0.002 * head
        right = self.across * (head[:, :-1] - head[:, 1:])
        below = self.down * (head[:-1] - head[1:])
        flow[:, :-1] += right
        flow[:, 1:] -= right
        flow[:-1] += below
        flow[1:] -= below
        return flow.flatten()


def conjugate_gradients(apply, b, steps, tolerance=1e-9):
    x = torch.zeros_like(b)
    r = b - apply(x)
    p = r
    rr = r @ r
    for k in range(steps):
        ap = apply(p)
        a = rr / (p @ ap)
        x.add_(p, alpha=a.item())
        r.sub_(a * ap)
        new = r @ r
        if new.sqrt() < tolerance:
            break
        p = r + (new / rr) * p
        rr = new
    return x, k + 1


aquifer = Aquifer(side=9, seed=2)
wells = torch.zeros(81, dtype=torch.float64)
wells[[12, 40, 66]] = torch.tensor([1.0, -2.5, 0.8], dtype=torch.float64)
head, steps = conjugate_gradients(aquifer.outflow, wells, steps=60)
print("head at the wells", head[[12, 40, 66]].tolist(), "after", steps, "steps")

matrix = torch.stack([aquifer.outflow(e) for e in torch.eye(81, dtype=torch.float64)], dim=1)
SILENTLY_WRONG = not torch.allclose(head, torch.linalg.solve(matrix, wells), atol=1e-6)
