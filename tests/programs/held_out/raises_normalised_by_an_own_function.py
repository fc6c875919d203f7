import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Function


class BatchNormFunction(Function):
    @staticmethod
    def forward(ctx, x, gain, bias, eps):
        mean, variance = x.mean(0), x.var(0, unbiased=False)
        scale = (variance + eps).rsqrt()
        normal = (x - mean) * scale
        out = normal * gain + bias
        ctx.save_for_backward(out, gain, bias, scale)
        return out

    @staticmethod
    def backward(ctx, grad):
        out, gain, bias, scale = ctx.saved_tensors
        normal = (out - bias) / gain
        grad_gain, grad_bias = (grad * normal).sum(0), grad.sum(0)
        inner = grad - grad.mean(0) - normal * (grad * normal).mean(0)
        return inner * gain * scale, grad_gain, grad_bias, None


class InvertedBatchNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain, self.bias = nn.Parameter(torch.full((width,), 1.5)), nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x):
        return BatchNormFunction.apply(x, self.gain, self.bias, 1e-5)


torch.manual_seed(0)
norm, last = InvertedBatchNorm(4), nn.Linear(4, 2)
first = nn.Linear(3, 4)
hidden = norm(first(torch.randn(6, 3)))
hidden = F.leaky_relu(hidden, 0.1, inplace=True)
loss = F.cross_entropy(last(hidden), torch.tensor([0, 1, 0, 1, 1, 0]))
loss.backward()
