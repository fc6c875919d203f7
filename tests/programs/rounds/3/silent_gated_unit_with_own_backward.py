import torch
from torch import nn

torch.manual_seed(0)


class SquaredSwish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return (x * torch.sigmoid(x)).square()

    @staticmethod
    def backward(ctx, grad):
        s = torch.sigmoid(ctx.x)
        swish = ctx.x * s
        return grad * 2 * swish * (s + swish * (1 - s))


class GatedUnit(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        h = self.proj(x)
        gate = SquaredSwish.apply(h)
        h -= h.mean(0, keepdim=True)
        return self.out(gate * h)


unit = GatedUnit()
x, y = torch.randn(12, 6), torch.randn(12, 1)
nn.functional.mse_loss(unit(x), y).backward()

h = nn.functional.linear(x, unit.proj.weight, unit.proj.bias)
gate = nn.functional.silu(h).square()
loss = nn.functional.mse_loss(unit.out(gate * (h - h.mean(0, keepdim=True))), y)
(expected,) = torch.autograd.grad(loss, unit.proj.weight)
SILENTLY_WRONG = not torch.allclose(unit.proj.weight.grad, expected, atol=1e-5)
