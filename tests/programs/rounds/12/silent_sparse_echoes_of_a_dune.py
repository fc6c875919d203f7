import torch


def shrink_(x, level):
    return x.copy_(torch.sign(x) * (x.abs() - level).clamp(min=0))


class Accelerated:
    def __init__(self, matrix, level):
        self.matrix, self.level = matrix, level
        self.step = 1 / torch.linalg.matrix_norm(matrix, 2) ** 2

    def slope(self, y, data):
        return self.matrix.T @ (self.matrix @ y - data)

    def solve(self, data, steps):
        x = torch.zeros(self.matrix.shape[1])
        y, t = x.clone(), 1.0
        for _ in range(steps):
            before = x
            x.copy_(y).sub_(self.step * self.slope(y, data))
            shrink_(x, self.step * self.level)
            later = (1 + (1 + 4 * t * t) ** 0.5) / 2
            y = x + (t - 1) / later * (x - before)
            t = later
        return x


torch.manual_seed(17)
matrix = torch.randn(30, 60) / 30 ** 0.5
truth = torch.zeros(60)
truth[[4, 19, 33, 52]] = torch.tensor([2.0, -1.5, 1.0, -2.5])
data = matrix @ truth + 0.01 * torch.randn(30)
found = Accelerated(matrix, 0.05).solve(data, 25)

step, t = 1 / torch.linalg.svdvals(matrix)[0] ** 2, 1.0
old = y = torch.zeros(60)
for _ in range(25):
    point = y - step * (matrix.T @ (matrix @ y - data))
    new = torch.where(point.abs() > step * 0.05, point - step * 0.05 * torch.sign(point), torch.zeros(60))
    later = (1 + (1 + 4 * t * t) ** 0.5) / 2
    y, old, t = new + (t - 1) / later * (new - old), new, later
SILENTLY_WRONG = not torch.allclose(found, old, atol=1e-3)
