import torch


def gauss_seidel(u):
    for i in range(1, len(u) - 1):
        u[i] = 0.5 * (u[i - 1] + u[i + 1])


def jacobi(u):
    new = u.clone()
    for i in range(1, len(u) - 1):
        new[i] = 0.5 * (u[i - 1] + u[i + 1])
    return new


torch.manual_seed(0)
u = torch.randn(6)
v = jacobi(u)
for sweep in range(3):
    gauss_seidel(u)
    v = jacobi(v)
residual = (u[1:-1] - 0.5 * (u[:-2] + u[2:])).abs().max() + v.abs().max()
