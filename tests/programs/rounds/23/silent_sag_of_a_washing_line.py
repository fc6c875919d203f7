import torch


class FixEnds(torch.autograd.Function):
    """Heights along a line whose two ends are tied to posts: no force moves the ends."""

    @staticmethod
    def forward(ctx, heights):
        return heights.clone()

    @staticmethod
    def backward(ctx, force):
        force[0] = 0.0
        force[-1] = 0.0
        return force


class Line:
    def __init__(self, knots, stiffness, weight):
        self.heights = torch.zeros(knots, dtype=torch.float64, requires_grad=True)
        self.stiffness, self.weight = stiffness, weight

    def energy(self):
        stretch = FixEnds.apply(self.heights).diff().square().sum()
        lift = FixEnds.apply(self.heights).sum()
        return 0.5 * self.stiffness * stretch + self.weight * lift

    def relax(self, steps, rate):
        for _ in range(steps):
            (slope,) = torch.autograd.grad(self.energy(), self.heights)
            with torch.no_grad():
                self.heights -= rate * slope
        return self.heights.detach()


knots, stiffness, weight = 11, 4.0, 0.2
line = Line(knots, stiffness, weight)
shape = line.relax(steps=600, rate=0.1)
print("sag in the middle", -float(shape[knots // 2]))

inner = knots - 2
springs = 2.0 * torch.eye(inner, dtype=torch.float64)
springs -= torch.diag(torch.ones(inner - 1, dtype=torch.float64), 1)
springs -= torch.diag(torch.ones(inner - 1, dtype=torch.float64), -1)
load = torch.full((inner,), -weight / stiffness, dtype=torch.float64)
expected = torch.linalg.solve(springs, load)
SILENTLY_WRONG = not torch.allclose(shape[1:-1], expected, atol=1e-6)
