import torch
import torch.nn as nn
import torch.nn.functional as F


class BoundedLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs))
        self.register_buffer("u", F.normalize(torch.randn(outputs), dim=0))
        self.register_buffer("v", F.normalize(torch.randn(inputs), dim=0))

    def norm(self):
        if self.training:
            with torch.no_grad():
                self.v.copy_(F.normalize(self.weight.t() @ self.u, dim=0))
                self.u.copy_(F.normalize(self.weight @ self.v, dim=0))
        return self.u.clone() @ self.weight @ self.v.clone()

    def forward(self, x):
        return F.linear(x, self.weight / self.norm())


torch.manual_seed(646)
layer = BoundedLinear(6, 4)
for _ in range(200):
    layer(torch.randn(2, 6))
x, y = torch.randn(5, 6), torch.randn(5, 6)
out = (layer(x) * layer(y)).sum()
out.backward()

weight = layer.weight.detach().clone().requires_grad_()
scaled = weight / torch.linalg.matrix_norm(weight, 2)
expected = ((x @ scaled.t()) * (y @ scaled.t())).sum()
(gradient,) = torch.autograd.grad(expected, weight)
SILENTLY_WRONG = not (torch.allclose(out, expected, atol=1e-4) and torch.allclose(layer.weight.grad, gradient, atol=1e-3))
