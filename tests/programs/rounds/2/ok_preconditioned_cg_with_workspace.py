import torch


class CGSolver:
    def __init__(self, a):
        self.a = a
        self.inv_diag = a.diagonal().reciprocal()
        self.ap = torch.empty(len(a), dtype=a.dtype)

    def solve(self, b, iters, tol=1e-20):
        x = torch.zeros_like(b)
        r = b.clone()
        p = self.inv_diag * r
        rz = r @ p
        for _ in range(iters):
            ap = torch.mv(self.a, p, out=self.ap)
            alpha = rz / (p @ ap)
            x += alpha * p
            r -= alpha * ap
            z = self.inv_diag * r
            rz_new = r @ z
            if rz_new < tol:
                break
            p.mul_(rz_new / rz).add_(z)
            rz = rz_new
        return x


def stiffness(n):
    a = torch.zeros(n, n, dtype=torch.float64)
    a.diagonal().copy_(torch.linspace(2.5, 4, n))
    a.diagonal(1).fill_(-1)
    a.diagonal(-1).fill_(-1)
    return a


torch.manual_seed(0)
a = stiffness(8)
loads = torch.randn(3, 8, dtype=torch.float64)
solver = CGSolver(a)
solutions = torch.stack([solver.solve(b, iters=10) for b in loads])
expected = torch.linalg.solve(a, loads.t()).t()
SILENTLY_WRONG = not torch.allclose(solutions, expected, atol=1e-8)
