import torch
import torch.nn as nn


class LeakyInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(torch.where(x > 0, 1.0, 0.1))
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * torch.where(y > 0, 1.0, 0.1)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 2))
h = net[0](torch.randn(4, 3))
h = LeakyInPlace.apply(h)
net[1](h).pow(2).mean().backward()
