import torch


def shrink(value, amount):
    return torch.sign(value) * (value.abs() - amount).clamp(min=0)


def sparse_regression(x, y, penalty, sweeps=60):
    n, d = x.shape
    w = torch.zeros(d, dtype=x.dtype)
    rest = y.clone()
    norms = x.square().sum(dim=0) / n
    for _ in range(sweeps):
        for j in range(d):
            before = w[j]
            rho = x[:, j] @ rest / n + norms[j] * before
            w[j] = shrink(rho, penalty) / norms[j]
            rest += x[:, j] * (before - w[j])
    return w


def proximal_gradient(x, y, penalty, steps=4000):
    n, d = x.shape
    rate = n / torch.linalg.matrix_norm(x, 2).square()
    w = torch.zeros(d, dtype=x.dtype)
    for _ in range(steps):
        w = shrink(w - rate * (x.T @ (x @ w - y)) / n, rate * penalty)
    return w


torch.manual_seed(12)
x = torch.randn(60, 8, dtype=torch.float64)
x[:, 1] += 0.8 * x[:, 0]
truth = torch.tensor([1.5, 0.0, -2.0, 0.0, 0.0, 0.7, 0.0, 0.0], dtype=torch.float64)
y = x @ truth + 0.1 * torch.randn(60, dtype=torch.float64)
found = sparse_regression(x, y, 0.05)
SILENTLY_WRONG = not torch.allclose(found, proximal_gradient(x, y, 0.05), atol=1e-5)
