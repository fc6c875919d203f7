import torch
import torch.nn as nn
import torch.nn.functional as F


class SlottedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, slot):
        ctx.save_for_backward(x, weight)
        ctx.slot = slot
        return x @ weight.t()

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        torch.mm(grad.t(), x, out=ctx.slot)
        return grad @ weight, ctx.slot, None


class Spread:
    def __init__(self, like):
        self.count, self.first, self.second = 0, torch.zeros_like(like), torch.zeros_like(like)

    def add(self, grad):
        self.count += 1
        self.first += grad
        self.second.addcmul_(grad, grad)

    def variance(self):
        mean = self.first / self.count
        return self.second / self.count - mean * mean


def measure(weight, x, y):
    slot, spread = torch.empty_like(weight), Spread(weight.detach())
    for k in range(len(x)):
        loss = F.cross_entropy(SlottedProduct.apply(x[k:k + 1], weight, slot), y[k:k + 1])
        grad, = torch.autograd.grad(loss, weight)
        spread.add(grad)
    return spread.variance()


torch.manual_seed(32)
weight = nn.Parameter(torch.randn(4, 5) / 2)
x, y = torch.randn(15, 5), torch.randint(0, 4, (15,))
found = measure(weight, x, y)

with torch.no_grad():
    slope = (x @ weight.T).softmax(dim=1) - F.one_hot(y, 4)
    expected = torch.var(slope[:, :, None] * x[:, None, :], dim=0, unbiased=False)
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-5)
