import torch
import torch.nn as nn
import torch.nn.functional as F


class Leak(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        x[x < 0] *= slope
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        ctx.slope = slope
        return x

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        grad = grad.clone()
        grad[x < 0] *= ctx.slope
        return grad, None


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 3, 3), nn.Conv2d(3, 2, 3)

    def forward(self, x):
        x = Leak.apply(self.first(x), 0.1)
        return Leak.apply(self.second(x), 0.2).mean(dim=(2, 3))


torch.manual_seed(74)
net, x = LeafNet(), torch.randn(4, 1, 9, 9)
given = x.clone()
net(x).square().sum().backward()
grads = [p.grad for p in net.parameters()]

h = F.leaky_relu(F.conv2d(given, net.first.weight, net.first.bias), 0.1)
h = F.leaky_relu(F.conv2d(h, net.second.weight, net.second.bias), 0.2).mean(dim=(2, 3))
expected = torch.autograd.grad(h.square().sum(), list(net.parameters()))
right = all(torch.allclose(a, b, atol=1e-5) for a, b in zip(grads, expected))
SILENTLY_WRONG = not (right and torch.equal(x, given))
