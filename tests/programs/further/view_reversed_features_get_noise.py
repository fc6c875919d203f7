import torch
import torch.nn as nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -grad


torch.manual_seed(0)
body, domain = nn.Linear(3, 4), nn.Linear(4, 2)
features = Reverse.apply(body(torch.randn(5, 3)))
features += 0.1 * torch.randn(5, 4)
domain(features).sum().backward()
