import torch


def conjugate_gradient(matvec, b, iters, tol=1e-12):
    x = torch.zeros_like(b)
    r = b - matvec(x)
    p = r
    rs = r @ r
    for _ in range(iters):
        ap = matvec(p)
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        rs_new = r @ r
        if rs_new < tol:
            break
        p = r + (rs_new / rs) * p
        rs = rs_new
    return x


def laplacian(n):
    a = torch.zeros(n, n, dtype=torch.float64)
    a.diagonal().fill_(2.5)
    a.diagonal(1).fill_(-1)
    a.diagonal(-1).fill_(-1)
    return a


torch.manual_seed(0)
a = laplacian(8)
b = torch.randn(8, dtype=torch.float64)
solution = conjugate_gradient(lambda v: a @ v, b, iters=8)
expected = torch.linalg.solve(a, b)
SILENTLY_WRONG = not torch.allclose(solution, expected, atol=1e-6)
