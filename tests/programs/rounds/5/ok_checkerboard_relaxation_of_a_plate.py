import torch


class Plate:
    def __init__(self, size, heat):
        self.u = torch.zeros(size + 2, size + 2, dtype=torch.float64)
        self.u[0] = 1.0
        self.heat = heat
        rows, cols = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        self.colours = [(rows + cols) % 2 == c for c in (0, 1)]

    def sweep(self):
        inner = self.u[1:-1, 1:-1]
        for colour in self.colours:
            around = (self.u[:-2, 1:-1] + self.u[2:, 1:-1]
                      + self.u[1:-1, :-2] + self.u[1:-1, 2:] + self.heat)
            inner[colour] = around[colour] / 4


torch.manual_seed(2)
size = 8
heat = 0.1 * torch.rand(size, size, dtype=torch.float64)
plate = Plate(size, heat)
for _ in range(400):
    plate.sweep()

second = 2 * torch.eye(size, dtype=torch.float64)
second -= torch.diag(torch.ones(size - 1, dtype=torch.float64), 1)
second -= torch.diag(torch.ones(size - 1, dtype=torch.float64), -1)
eye = torch.eye(size, dtype=torch.float64)
matrix = torch.kron(second, eye) + torch.kron(eye, second)
right = heat.clone()
right[0] += 1.0
expected = torch.linalg.solve(matrix, right.flatten()).view(size, size)
SILENTLY_WRONG = not torch.allclose(plate.u[1:-1, 1:-1], expected, atol=1e-8)
