import torch


def sweep(u):
    new = u
    for i in range(1, len(u) - 1):
        new[i] = 0.5 * (u[i - 1] + u[i + 1])
    return new


torch.manual_seed(0)
u = torch.randn(6)
honest = u.clone()
honest[1:-1] = 0.5 * (u[:-2] + u[2:])
u = sweep(u)
SILENTLY_WRONG = not torch.allclose(u, honest)
