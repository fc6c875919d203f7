import torch
import torch.nn as nn


class SquareInPlaceBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        x.data.mul_(2).mul_(grad)
        return x


torch.manual_seed(0)
fc, x_in = nn.Linear(3, 3), torch.randn(4, 3)
reference = torch.autograd.grad(fc(x_in).exp().pow(2).sum(), fc.weight)[0]

activated = fc(x_in).exp()
SquareInPlaceBackward.apply(activated).sum().backward()
SILENTLY_WRONG = not torch.allclose(fc.weight.grad, reference)
