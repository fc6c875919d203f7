import torch
from torch import nn

torch.manual_seed(0)


class LeakyClip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit, slope):
        scale = torch.ones_like(x)
        scale[x.abs() > limit] = slope
        ctx.save_for_backward(scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad):
        (scale,) = ctx.saved_tensors
        return grad * scale, None, None


class ClippedHead(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.out = nn.Linear(2 * dim, 1)

    def forward(self, x):
        h = self.proj(x)
        clipped = LeakyClip.apply(h, 0.5, 0.1)
        h -= h.mean(0, keepdim=True)
        h /= 2.0
        return self.out(torch.cat([clipped, h], dim=1))


head = ClippedHead()
x, y = torch.randn(10, 6), torch.randn(10, 1)
loss = nn.functional.mse_loss(head(x), y)
loss.backward()

h = nn.functional.linear(x, head.proj.weight, head.proj.bias)
clipped = torch.where(h.abs() > 0.5, 0.1 * h, h)
reference = nn.functional.mse_loss(head.out(torch.cat([clipped, (h - h.mean(0)) / 2], dim=1)), y)
(expected,) = torch.autograd.grad(reference, head.proj.weight)
SILENTLY_WRONG = not torch.allclose(head.proj.weight.grad, expected, atol=1e-6)
