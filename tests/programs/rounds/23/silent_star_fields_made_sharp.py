import torch
import torch.nn.functional as F


def blur(x, gain):
    kernel = torch.tensor([[[0.25, 0.5, 0.25]]], dtype=x.dtype)
    return gain * F.conv1d(x[:, None], kernel, padding=1)[:, 0]


class ProximalGradient:
    """Least squares with a soft threshold; the step is shortened where the cost goes up."""

    def __init__(self, params, max_iter=30, eta=0.5):
        self.init_params = {name: torch.as_tensor(value, dtype=torch.float64) for name, value in params.items()}
        self.max_iter, self.eta = max_iter, eta

    def cost(self, x, y, gain, lam):
        return 0.5 * (blur(x, gain) - y).square().sum() + lam * x.abs().sum()

    def restore(self, y, gain):
        params = self.init_params.copy()
        x = torch.zeros_like(y)
        for _ in range(self.max_iter):
            step, lam = params["stepsize"], params["lambda"]
            moved = x - step * blur(blur(x, gain) - y, gain)
            moved = moved.sign() * (moved.abs() - step * lam).clamp(min=0)
            if self.cost(moved, y, gain, lam) > self.cost(x, y, gain, lam):
                params["stepsize"] *= self.eta
                continue
            x = moved
        return x


torch.manual_seed(4)
gains = [6.0, 1.0, 0.5]
stars = (torch.rand(3, 5, 40, dtype=torch.float64) < 0.08) * torch.rand(3, 5, 40, dtype=torch.float64).add(0.5)
plates = [blur(s, g) + 0.01 * torch.randn(5, 40, dtype=torch.float64) for s, g in zip(stars, gains)]
solver = ProximalGradient({"stepsize": 1.5, "lambda": 0.01})
sharp = [solver.restore(plate, gain) for plate, gain in zip(plates, gains)]
print("light left over", [float((s - t).abs().sum()) for s, t in zip(sharp, stars)])

expected = []
for y, g in zip(plates, gains):
    band = torch.diag(torch.full((40,), 0.5)) + torch.diag(torch.full((39,), 0.25), 1) + torch.diag(torch.full((39,), 0.25), -1)
    a = g * band.double()
    x, step = torch.zeros(5, 40, dtype=torch.float64), 1.5
    for _ in range(30):
        z = x - step * ((x @ a - y) @ a)
        z = torch.where(z > 0, 1.0, -1.0) * torch.relu(z.abs() - 0.01 * step)
        old, new = (0.5 * ((v @ a - y) ** 2).sum() + 0.01 * v.abs().sum() for v in (x, z))
        if new > old:
            step = step * 0.5
        else:
            x = z
    expected.append(x)
SILENTLY_WRONG = not all(torch.allclose(s, e, atol=1e-8) for s, e in zip(sharp, expected))
