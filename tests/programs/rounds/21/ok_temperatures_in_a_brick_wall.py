import torch


class Wall:
    """Layers of brick with a given heat transfer between neighbours and to the air."""

    def __init__(self, transfer, leak):
        self.transfer, self.leak = transfer, leak

    def lost(self, t, out):
        torch.mul(t, self.leak, out=out)
        flow = self.transfer * t.diff()
        out[:-1] -= flow
        out[1:] += flow


def conjugate_gradients(wall, heat, tolerance=1e-11):
    t = torch.zeros_like(heat)
    r = heat.clone()
    p = r.clone()
    ap = torch.empty_like(p)
    rr = r.dot(r)
    for step in range(3 * len(heat)):
        wall.lost(p, out=ap)
        a = (rr / p.dot(ap)).item()
        t.add_(p, alpha=a)
        r.sub_(ap, alpha=a)
        rr, before = r.dot(r), rr
        if rr.sqrt() < tolerance:
            break
        p.mul_(rr / before).add_(r)
    return t, step + 1


torch.manual_seed(1)
layers = 48
transfer = 0.3 + torch.rand(layers - 1, dtype=torch.float64)
leak = 0.02 * torch.ones(layers, dtype=torch.float64)
leak[[0, -1]] = 0.8
wall = Wall(transfer, leak)
heat = torch.zeros(layers, dtype=torch.float64)
heat[10:14] = 2.0
t, steps = conjugate_gradients(wall, heat)
print("warmest layer", t.argmax().item(), "temperature", t.max().item(), "after", steps, "steps")

matrix = torch.diag(leak)
for i, k in enumerate(transfer.tolist()):
    matrix[i, i] += k
    matrix[i + 1, i + 1] += k
    matrix[i, i + 1] = matrix[i + 1, i] = -k
SILENTLY_WRONG = not torch.allclose(t, torch.linalg.solve(matrix, heat), atol=1e-7)
