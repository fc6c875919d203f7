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


class SlottedLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / inputs ** 0.5)
        self.register_buffer("slot", torch.empty(outputs, inputs), persistent=False)

    def forward(self, x):
        return SlottedProduct.apply(x, self.weight, self.slot)


def influence(net, x, y, probe):
    grads = []
    for k in range(len(x)):
        loss = F.cross_entropy(net(x[k:k + 1]), y[k:k + 1])
        grad, = torch.autograd.grad(loss, net.weight)
        grads.append(grad)
    return torch.stack([(grad * probe).sum() for grad in grads])


torch.manual_seed(31)
net = SlottedLinear(5, 3)
x, y, probe = torch.randn(10, 5), torch.randint(0, 3, (10,)), torch.randn(3, 5)
found = influence(net, x, y, probe)

with torch.no_grad():
    slope = (x @ net.weight.T).softmax(dim=1) - F.one_hot(y, 3)
    expected = torch.einsum("no,oi,ni->n", slope, probe, x)
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-5)
