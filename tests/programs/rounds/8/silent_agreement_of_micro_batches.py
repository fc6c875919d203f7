import torch
import torch.nn as nn


class Probe(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, log):
        ctx.log = log
        return weight.view_as(weight)

    @staticmethod
    def backward(ctx, grad):
        ctx.log.append(grad.detach())
        return grad, None


class ProbedLinear(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs))
        self.log = []

    def forward(self, x):
        return x @ Probe.apply(self.weight, self.log)


def gradient_agreement(net, portions):
    net.weight.grad = None
    net.log.clear()
    for x, y in portions:
        (net(x) - y).pow(2).mean().backward()
    unit = nn.functional.normalize(torch.stack(net.log), dim=1)
    return unit @ unit.T


torch.manual_seed(820)
net = ProbedLinear(6)
portions = [(torch.randn(5, 6), torch.randn(5)) for _ in range(4)]
agreement = gradient_agreement(net, portions)

w = net.weight.detach()
single = torch.stack([2 * x.T @ (x @ w - y) / 5 for x, y in portions])
unit = nn.functional.normalize(single, dim=1)
SILENTLY_WRONG = not torch.allclose(agreement, unit @ unit.T, atol=1e-4)
