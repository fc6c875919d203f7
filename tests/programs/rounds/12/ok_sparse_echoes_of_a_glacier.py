import torch


class Accelerated:
    def __init__(self, matrix, level):
        self.matrix, self.level = matrix, level
        self.step = 1 / torch.linalg.matrix_norm(matrix, 2) ** 2
        size = matrix.shape[1]
        self.x, self.before, self.y = torch.zeros(size), torch.zeros(size), torch.zeros(size)

    def shrink(self, point, out):
        bound = self.step * self.level
        torch.sub(point, point.clamp(-bound, bound), out=out)

    def advance(self, data, share):
        self.x, self.before = self.before, self.x
        slope = self.matrix.T @ (self.matrix @ self.y - data)
        self.shrink(self.y - self.step * slope, out=self.x)
        torch.sub(self.x, self.before, out=self.y)
        self.y.mul_(share).add_(self.x)

    def solve(self, data, steps):
        t = 1.0
        for _ in range(steps):
            later = (1 + (1 + 4 * t * t) ** 0.5) / 2
            self.advance(data, (t - 1) / later)
            t = later
        return self.x


torch.manual_seed(19)
matrix = torch.randn(25, 50) / 5
truth = torch.zeros(50)
truth[[3, 21, 40]] = torch.tensor([1.5, -2.0, 1.0])
data = matrix @ truth + 0.01 * torch.randn(25)
found = Accelerated(matrix, 0.05).solve(data, 30)

step, t = 1 / torch.linalg.svdvals(matrix)[0] ** 2, 1.0
old = y = torch.zeros(50)
for _ in range(30):
    point = y - step * (matrix.T @ (matrix @ y - data))
    new = torch.sign(point) * (point.abs() - step * 0.05).clamp(min=0)
    later = (1 + (1 + 4 * t * t) ** 0.5) / 2
    y, old, t = new + (t - 1) / later * (new - old), new, later
SILENTLY_WRONG = not torch.allclose(found, old, atol=1e-3)
