import torch
import torch.nn as nn


class History:
    def __init__(self, length, start):
        self.peaks = torch.full((length,), start)

    def step(self):
        return self.peaks.max() / 127

    def update(self, x):
        self.peaks.copy_(self.peaks.roll(1))
        self.peaks[0] = x.abs().max()


class ByteProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, step):
        codes = (x / step).round().clamp(-127, 127).to(torch.int8)
        ctx.save_for_backward(codes, weight)
        ctx.step = step
        return (codes * step) @ weight.t()

    @staticmethod
    def backward(ctx, grad):
        codes, weight = ctx.saved_tensors
        return grad @ weight, grad.t() @ (codes * ctx.step), None


class ByteLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / inputs ** 0.5)
        self.history = History(3, 2.0)

    def forward(self, x):
        y = ByteProduct.apply(x, self.weight, self.history.step())
        self.history.update(x.detach())
        return y


def run_pipeline(layer, portions):
    waiting = [(layer(x) - y).square().mean() for x, y in portions]
    for loss in waiting:
        loss.backward()
    return layer.weight.grad


torch.manual_seed(46)
layer = ByteLinear(6, 2)
portions = [(torch.randn(8, 6) * (4 - k), torch.randn(8, 2)) for k in range(4)]
found = run_pipeline(layer, portions)

peaks, expected = [2.0, 2.0, 2.0], torch.zeros(2, 6)
with torch.no_grad():
    for x, y in portions:
        step = max(peaks) / 127
        rounded = (x / step).round().clamp(-127, 127) * step
        slope = 2 * (rounded @ layer.weight.T - y) / 16
        expected = expected + slope.T @ rounded
        peaks = [float(x.abs().max())] + peaks[:2]
SILENTLY_WRONG = not torch.allclose(found, expected, rtol=1e-3, atol=1e-4)
