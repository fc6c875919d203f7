import torch
import torch.nn as nn


class Amplify(torch.autograd.Function):
    @staticmethod
    def forward(ctx, trace, factor):
        ctx.factor = factor
        trace.mul_(factor)
        ctx.mark_dirty(trace)
        return trace

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.factor, None


class Geophone(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.front = nn.Conv1d(2, 3, 5)
        self.arrivals = nn.Conv1d(3, 1, 3)
        self.noise = nn.Conv1d(3, 1, 3)
        self.factor = factor

    def forward(self, motion):
        trace = self.front(motion)
        arrivals = self.arrivals(Amplify.apply(trace, self.factor))
        noise = self.noise(trace)
        return (arrivals - noise).square().mean()


torch.manual_seed(136)
net = Geophone(factor=2.5)
motion = torch.randn(4, 2, 30)
net(motion).backward()
gradient = net.front.weight.grad.clone()


def loss_of(weight):
    trace = 2.5 * nn.functional.conv1d(motion, weight, net.front.bias)
    return (net.arrivals(trace) - net.noise(trace)).square().mean()


(expected,) = torch.autograd.grad(loss_of(net.front.weight), net.front.weight)
SILENTLY_WRONG = not torch.allclose(gradient, expected, rtol=1e-3, atol=1e-5)
