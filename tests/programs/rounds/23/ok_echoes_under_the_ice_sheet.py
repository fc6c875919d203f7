import torch
import torch.nn.functional as F


def smear(x, power):
    pulse = torch.tensor([[[0.3, 0.4, 0.3]]], dtype=x.dtype)
    return power * F.conv1d(x[:, None], pulse, padding=1)[:, 0]


class GradientDescent:
    """Radar echoes as sharp layers; the step is halved wherever it proves too long."""

    def __init__(self, params, max_iter=25):
        self.init_params = {name: torch.as_tensor(value, dtype=torch.float64) for name, value in params.items()}
        self.max_iter = max_iter

    def start_params(self):
        return {name: value.clone() for name, value in self.init_params.items()}

    def cost(self, x, y, power, ridge):
        return 0.5 * (smear(x, power) - y).square().sum() + 0.5 * ridge * x.square().sum()

    def unfold(self, y, power):
        params = self.start_params()
        x = torch.zeros_like(y)
        for _ in range(self.max_iter):
            step, ridge = params["stepsize"], params["ridge"]
            moved = x - step * (smear(smear(x, power) - y, power) + ridge * x)
            if self.cost(moved, y, power, ridge) > self.cost(x, y, power, ridge):
                params["stepsize"] *= 0.5
                continue
            x = moved
        return x


torch.manual_seed(31)
powers = [5.0, 1.0, 0.4]
layers = [(torch.rand(4, 30, dtype=torch.float64) < 0.1).double() for _ in powers]
traces = [smear(x, p) + 0.01 * torch.randn(4, 30, dtype=torch.float64) for x, p in zip(layers, powers)]
solver = GradientDescent({"stepsize": 2.0, "ridge": 0.02})
found = [solver.unfold(trace, p) for trace, p in zip(traces, powers)]
print("step the solver begins with", float(solver.init_params["stepsize"]))

expected = []
for y, p in zip(traces, powers):
    a = torch.zeros(30, 30, dtype=torch.float64)
    for i in range(30):
        for j, share in ((i - 1, 0.3), (i, 0.4), (i + 1, 0.3)):
            if 0 <= j < 30:
                a[i, j] = p * share
    x, step = torch.zeros(4, 30, dtype=torch.float64), 2.0
    for _ in range(25):
        z = x - step * ((x @ a - y) @ a + 0.02 * x)
        old, new = (((v @ a - y) ** 2).sum() + 0.02 * (v ** 2).sum() for v in (x, z))
        if new > old:
            step /= 2
        else:
            x = z
    expected.append(x)
SILENTLY_WRONG = not all(torch.allclose(f, e, atol=1e-8) for f, e in zip(found, expected))
