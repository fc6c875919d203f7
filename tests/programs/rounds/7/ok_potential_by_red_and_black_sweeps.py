import math

import torch


def relax(grid, colour, source, omega):
    core = grid[1:-1, 1:-1]
    around = grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]
    target = 0.25 * (around + source)
    core[colour] = (1 - omega) * core[colour] + omega * target[colour]


def solve(size, source, sweeps):
    grid = torch.zeros(size + 2, size + 2, dtype=torch.float64)
    grid[0] = torch.linspace(0, 1, size + 2)
    grid[:, -1] = 1.0
    i = torch.arange(size)
    red = (i[:, None] + i[None, :]) % 2 == 0
    omega = 2 / (1 + math.sin(math.pi / (size + 1)))
    for _ in range(sweeps):
        relax(grid, red, source, omega)
        relax(grid, ~red, source, omega)
    return grid[1:-1, 1:-1]


size = 10
source = torch.zeros(size, size, dtype=torch.float64)
source[3, 6] = 0.5
potential = solve(size, source, sweeps=120)

line = 2 * torch.eye(size) - torch.diag(torch.ones(size - 1), 1) - torch.diag(torch.ones(size - 1), -1)
system = (torch.kron(line, torch.eye(size)) + torch.kron(torch.eye(size), line)).double()
right = source.clone()
right[0] += torch.linspace(0, 1, size + 2)[1:-1]
right[:, -1] += 1.0
exact = torch.linalg.solve(system, right.flatten()).view(size, size)
SILENTLY_WRONG = not torch.allclose(potential, exact, atol=1e-6)
