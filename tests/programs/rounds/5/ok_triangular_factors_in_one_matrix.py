import torch


def factorize(a):
    lu = a.clone()
    n = lu.shape[0]
    for k in range(n - 1):
        lu[k + 1:, k] /= lu[k, k]
        lu[k + 1:, k + 1:] -= torch.outer(lu[k + 1:, k], lu[k, k + 1:])
    return lu


def solve(lu, b):
    x = b.clone()
    n = len(x)
    for i in range(1, n):
        x[i] -= lu[i, :i] @ x[:i]
    for i in range(n - 1, -1, -1):
        x[i] -= lu[i, i + 1:] @ x[i + 1:]
        x[i] /= lu[i, i]
    return x


torch.manual_seed(0)
a = torch.randn(12, 12, dtype=torch.float64) + 12 * torch.eye(12, dtype=torch.float64)
b = torch.randn(12, dtype=torch.float64)
lu = factorize(a)
x = solve(lu, b)

lower = lu.tril(-1) + torch.eye(12, dtype=torch.float64)
SILENTLY_WRONG = not (torch.allclose(lower @ lu.triu(), a)
                      and torch.allclose(x, torch.linalg.solve(a, b)))
