import torch


def rotation(angles):
    a, b, c = angles.unbind(-1)
    r = angles.new_zeros(*angles.shape[:-1], 3, 3)
    r[..., 0, 0] = torch.cos(b) * torch.cos(c)
    r[..., 0, 1] = torch.sin(a) * torch.sin(b) * torch.cos(c) - torch.cos(a) * torch.sin(c)
    r[..., 0, 2] = torch.cos(a) * torch.sin(b) * torch.cos(c) + torch.sin(a) * torch.sin(c)
    r[..., 1, 0] = torch.cos(b) * torch.sin(c)
    r[..., 1, 1] = torch.sin(a) * torch.sin(b) * torch.sin(c) + torch.cos(a) * torch.cos(c)
    r[..., 1, 2] = torch.cos(a) * torch.sin(b) * torch.sin(c) - torch.sin(a) * torch.cos(c)
    r[..., 2, 0] = -torch.sin(b)
    r[..., 2, 1] = torch.sin(a) * torch.cos(b)
    r[..., 2, 2] = torch.cos(a) * torch.cos(b)
    return r


def generator(axis):
    k = torch.zeros(3, 3, dtype=torch.float64)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    k[i, j], k[j, i] = -1.0, 1.0
    return k


torch.manual_seed(11)
angles = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
cloud = torch.randn(5, 3, 8, dtype=torch.float64)
weight = torch.randn(5, 3, 8, dtype=torch.float64)
moved = rotation(angles) @ cloud
gradient, = torch.autograd.grad((moved.tanh() * weight).sum(), angles)

twin = angles.detach().clone().requires_grad_()
x, y, z = (torch.matrix_exp(twin[:, k, None, None] * generator(k)) for k in range(3))
expected = z @ y @ x @ cloud
expected_gradient, = torch.autograd.grad((expected.tanh() * weight).sum(), twin)
SILENTLY_WRONG = not (torch.allclose(moved, expected) and torch.allclose(gradient, expected_gradient))
