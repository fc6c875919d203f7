import torch
from torch import nn


class GemMixture(nn.Module):
    """Every stone goes to the experts whose gate is open; some have none."""

    def __init__(self, size, experts, threshold):
        super().__init__()
        self.threshold = threshold
        self.gate = nn.Linear(size, experts)
        self.up = nn.Parameter(torch.randn(experts, size, size) / size)
        self.register_buffer("load", torch.zeros(experts))

    def forward(self, x):
        gates = self.gate(x).sigmoid()
        total = torch.zeros_like(x)
        for number in range(len(self.up)):
            rows = (gates[:, number] > self.threshold).nonzero().squeeze(1)
            self.load[number] += len(rows)
            if len(rows) == 0:
                continue
            out = (x[rows] @ self.up[number]).tanh_()
            total.index_add_(0, rows, out * gates[rows, number, None])
        return total


torch.manual_seed(39)
mixture = GemMixture(size=5, experts=3, threshold=0.6)
with torch.no_grad():
    mixture.gate.bias[1] = -20.0
stones = 2 * torch.randn(40, 5)
described = mixture(stones)
described.square().sum().backward()
print("load", mixture.load.tolist(), "not described", int((described == 0).all(dim=1).sum()))

slope = mixture.up.grad
up = mixture.up.detach().requires_grad_()
gates = mixture.gate(stones).sigmoid().detach()
opened = gates * (gates > 0.6)
expected = (torch.einsum("bi,eij->bej", stones, up).tanh() * opened[:, :, None]).sum(dim=1)
(expected_slope,) = torch.autograd.grad(expected.square().sum(), up)
SILENTLY_WRONG = not (torch.allclose(described, expected, atol=1e-4)
                      and torch.allclose(slope, expected_slope, atol=1e-3)
                      and mixture.load.tolist() == (opened > 0).sum(dim=0).tolist())
