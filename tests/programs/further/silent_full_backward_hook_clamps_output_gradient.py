import torch
import torch.nn as nn


def clamp_gradient(module, grad_in, grad_out):
    grad_out[0].clamp_(-0.01, 0.01)


torch.manual_seed(0)
fc, skip = nn.Linear(4, 4), nn.Linear(4, 4)
x, goal = torch.randn(3, 4), torch.randn(3, 4)
expected = (skip(x) + fc(x) - goal).pow(2).sum()
reference = torch.autograd.grad(expected, skip.weight)[0]

fc.register_full_backward_hook(clamp_gradient)
loss = (skip(x) + fc(x) - goal).pow(2).sum()
loss.backward()
SILENTLY_WRONG = not torch.allclose(skip.weight.grad, reference)
