import torch
import torch.nn as nn


class ReverseGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.mul_(-ctx.strength), None


torch.manual_seed(0)
a, b = nn.Linear(3, 2), nn.Linear(3, 2)
x = torch.randn(4, 3)
reference = torch.autograd.grad((b(x) + a(x)).pow(2).sum(), b.weight)[0]

total = b(x) + ReverseGradient.apply(a(x), 0.5)
total.pow(2).sum().backward()
SILENTLY_WRONG = not torch.allclose(b.weight.grad, reference)
