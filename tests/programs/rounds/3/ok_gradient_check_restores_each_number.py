import torch
from torch import nn

torch.manual_seed(0)


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 4)
        self.outer = nn.Linear(4, 1)

    def forward(self, x):
        return self.outer(torch.sin(self.inner(x))).square().mean()


@torch.no_grad()
def numeric_gradient(loss_of, param, eps=1e-5):
    flat = param.view(-1)
    grad = torch.empty_like(flat)
    for i in range(flat.numel()):
        value = flat[i].item()
        flat[i] = value + eps
        above = loss_of()
        flat[i] = value - eps
        below = loss_of()
        flat[i] = value
        grad[i] = (above - below) / (2 * eps)
    return grad.view_as(param)


probe = Probe().double()
x = torch.randn(6, 3, dtype=torch.float64)
before = {name: p.detach().clone() for name, p in probe.named_parameters()}
numeric = [numeric_gradient(lambda: probe(x), p) for p in probe.parameters()]

analytic = torch.autograd.grad(probe(x), list(probe.parameters()))
close = all(torch.allclose(n, a, atol=1e-7) for n, a in zip(numeric, analytic))
restored = all(torch.equal(p, before[name]) for name, p in probe.named_parameters())
SILENTLY_WRONG = not (close and restored)
