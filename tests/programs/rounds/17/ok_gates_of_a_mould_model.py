import numpy as np
import torch
import torch.nn.functional as F


def gate_kernel(grad, gate, value):
    """Gradients of swish(gate) * value, with two work arrays."""
    bend = 1 / (1 + np.exp(-gate))
    rise = 1 - bend
    rise *= gate
    rise += 1
    rise *= bend
    rise *= value
    rise *= grad
    np.multiply(bend, gate, out=bend)
    bend *= grad
    return rise, bend


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gate, value):
        ctx.save_for_backward(gate, value)
        return F.silu(gate) * value

    @staticmethod
    def backward(ctx, grad):
        gate, value = (saved.detach().numpy() for saved in ctx.saved_tensors)
        d_gate, d_value = gate_kernel(grad.numpy(), gate, value)
        return torch.from_numpy(d_gate), torch.from_numpy(d_value)


class Culture:
    def __init__(self, damp, heat):
        self.damp = damp.clone().requires_grad_()
        self.heat = heat.clone().requires_grad_()

    def growth(self, x):
        return Gate.apply(torch.exp(x @ self.damp), torch.sigmoid(x @ self.heat))

    def slopes(self, x, seen):
        (self.growth(x) - seen).square().mean().backward()
        return self.damp.grad, self.heat.grad


torch.manual_seed(33)
x = 0.5 * torch.randn(16, 4, dtype=torch.float64)
damp, heat = torch.randn(2, 4, dtype=torch.float64)
seen = torch.rand(16, dtype=torch.float64)
slopes = Culture(damp, heat).slopes(x, seen)

a, b = torch.exp(x @ damp), torch.sigmoid(x @ heat)
bend = 1 / (1 + torch.exp(-a))
miss = 2 * (a * bend * b - seen) / 16
d_damp = (miss * b * bend * (1 + a * (1 - bend)) * a) @ x
d_heat = (miss * a * bend * b * (1 - b)) @ x
SILENTLY_WRONG = not (torch.allclose(slopes[0], d_damp) and torch.allclose(slopes[1], d_heat))
