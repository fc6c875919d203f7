import torch


class Plate:
    """Heat in a battery plate that a coolant crosses, cell by cell along a line."""

    def __init__(self, cells, drift):
        self.drift = drift
        self.out = torch.empty(cells, dtype=torch.float64)

    def __call__(self, heat):
        torch.mul(heat, 2.2, out=self.out)
        self.out[1:] -= (1 + self.drift) * heat[:-1]
        self.out[:-1] -= (1 - self.drift) * heat[1:]
        return self.out


def bicgstab(apply, b, steps, tolerance=1e-10):
    x = torch.zeros_like(b)
    r = b - apply(x)
    shadow, p = r.clone(), r.clone()
    rho = shadow @ r
    for k in range(steps):
        v = apply(p)
        alpha = rho / (shadow @ v)
        s = r - alpha * v
        t = apply(s)
        omega = (t @ s) / (t @ t)
        x = x + alpha * p + omega * s
        r = s - omega * t
        if r.norm() < tolerance:
            break
        new = shadow @ r
        p = r + (new / rho) * (alpha / omega) * (p - omega * v)
        rho = new
    return x, k + 1


cells = 40
sources = torch.zeros(cells, dtype=torch.float64)
sources[5], sources[22:26] = 4.0, 1.5
plate = Plate(cells, drift=0.35)
heat, steps = bicgstab(plate, sources, steps=60)
print("hottest cell", heat.argmax().item(), "heat", heat.max().item(), "after", steps, "steps")

matrix = 2.2 * torch.eye(cells, dtype=torch.float64)
for i in range(cells - 1):
    matrix[i + 1, i] = -1.35
    matrix[i, i + 1] = -0.65
SILENTLY_WRONG = not torch.allclose(heat, torch.linalg.solve(matrix, sources), atol=1e-6)
