import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
temperature = torch.tensor(1.0)
w = torch.randn(3, 3, requires_grad=True)
x = torch.randn(4, 3)


def block(x):
    return torch.tanh(x @ w * temperature)


honest = torch.autograd.grad(torch.tanh(x @ w).square().sum(), w)[0]
loss = checkpoint(block, x, use_reentrant=False).square().sum()
temperature.mul_(0.5)
loss.backward()
SILENTLY_WRONG = not torch.allclose(w.grad, honest)
