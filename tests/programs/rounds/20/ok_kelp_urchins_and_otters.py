import torch


class Bay:
    def __init__(self, growth, grazing, hunting, decline):
        self.growth, self.grazing = growth, grazing
        self.hunting, self.decline = hunting, decline

    def __call__(self, t, y, out):
        kelp, urchins, otters = y
        out[0] = self.growth * kelp * (1 - kelp) - self.grazing * kelp * urchins
        out[1] = 0.6 * self.grazing * kelp * urchins - self.hunting * urchins * otters - 0.1 * urchins
        out[2] = 0.5 * self.hunting * urchins * otters - self.decline * otters


class RungeKutta:
    """Classic method of order four with rows for the stages that are used again in each step."""

    weights = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
    inner = (0.0, 0.5, 0.5, 1.0)

    def __init__(self, flow, size):
        self.flow = flow
        self.stages = torch.zeros(4, size, dtype=torch.float64)

    def step(self, t, y, h):
        for k, c in enumerate(self.inner):
            point = y if k == 0 else y + c * h * self.stages[k - 1]
            self.flow(t + c * h, point, out=self.stages[k])
        for stage, w in zip(self.stages, self.weights):
            y.add_(stage, alpha=h * w)


state = torch.tensor([0.8, 0.3, 0.15], dtype=torch.float64)
begin = state.tolist()
solver = RungeKutta(Bay(growth=1.0, grazing=1.2, hunting=0.9, decline=0.1), size=3)
path = torch.empty(60, 3, dtype=torch.float64)
for k in range(60):
    solver.step(0.2 * k, state, h=0.2)
    path[k] = state
print("kelp, urchins, otters", state.tolist())


def change(k, u, o):
    eaten, hunted = 1.2 * k * u, 0.9 * u * o
    return k * (1 - k) - eaten, 0.6 * eaten - hunted - 0.1 * u, 0.5 * hunted - 0.1 * o


z = begin
expected = []
for _ in range(60):
    a = change(*z)
    b = change(*(s + 0.1 * d for s, d in zip(z, a)))
    c = change(*(s + 0.1 * d for s, d in zip(z, b)))
    e = change(*(s + 0.2 * d for s, d in zip(z, c)))
    z = [s + 0.2 / 6 * (p + 2 * q + 2 * r + w) for s, p, q, r, w in zip(z, a, b, c, e)]
    expected.append(z)
SILENTLY_WRONG = not torch.allclose(path, torch.tensor(expected, dtype=torch.float64), atol=1e-9)
