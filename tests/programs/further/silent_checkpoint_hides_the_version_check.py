import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
lin = nn.Linear(3, 3)


def block(x, honest=False):
    h = torch.sigmoid(lin(x))
    if honest:
        return (h * 2.0).square()
    h.mul_(2.0)
    return h.square()


x = torch.randn(4, 3)
(wanted,) = torch.autograd.grad(block(x, honest=True).sum(), lin.bias)
checkpoint(block, x, use_reentrant=False).sum().backward()
SILENTLY_WRONG = not torch.allclose(lin.bias.grad, wanted)
