import torch
import torch.nn as nn


class Gain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, signal, factor):
        ctx.factor = factor
        signal.mul_(factor)
        return signal

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.factor, None


class Hydrophone(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.front = nn.Conv1d(1, 4, 5)
        self.clicks = nn.Conv1d(4, 2, 3)
        self.hum = nn.Conv1d(4, 2, 3)
        self.factor = factor

    def forward(self, pressure):
        signal = self.front(pressure)
        clicks = self.clicks(Gain.apply(signal, self.factor))
        hum = self.hum(signal)
        return clicks.square().mean() + hum.square().mean()


torch.manual_seed(36)
net = Hydrophone(factor=4.0)
pressure = torch.randn(3, 1, 40)
net(pressure).backward()
gradient = net.front.weight.grad.clone()


def loss_of(weight):
    signal = 4.0 * nn.functional.conv1d(pressure, weight, net.front.bias)
    return net.clicks(signal).square().mean() + net.hum(signal).square().mean()


(expected,) = torch.autograd.grad(loss_of(net.front.weight), net.front.weight)
SILENTLY_WRONG = not torch.allclose(gradient, expected, rtol=1e-3, atol=1e-5)
