import numpy as np
import torch
import torch.nn.functional as F


def gate_kernel(grad, gate, value):
    """Gradients of swish(gate) * value, without further memory."""
    bend = 1 / (1 + np.exp(-gate))
    swish = gate * bend
    rise = bend * (1 + gate * (1 - bend))
    value *= rise
    value *= grad
    np.multiply(grad, swish, out=gate)
    return value, gate


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
    def __init__(self, sugar, heat):
        self.sugar = sugar.clone().requires_grad_()
        self.heat = heat.clone().requires_grad_()

    def growth(self, x):
        return Gate.apply(torch.exp(x @ self.sugar), torch.tanh(x @ self.heat))

    def slopes(self, x, seen):
        loss = (self.growth(x) - seen).square().mean()
        loss.backward()
        return self.sugar.grad, self.heat.grad


torch.manual_seed(53)
x = 0.5 * torch.randn(20, 3, dtype=torch.float64)
sugar, heat = torch.randn(2, 3, dtype=torch.float64)
seen = torch.rand(20, dtype=torch.float64)
slopes = Culture(sugar, heat).slopes(x, seen)

a, b = torch.exp(x @ sugar), torch.tanh(x @ heat)
bend = 1 / (1 + torch.exp(-a))
miss = 2 * (a * bend * b - seen) / 20
d_sugar = (miss * b * bend * (1 + a * (1 - bend)) * a) @ x
d_heat = (miss * a * bend * (1 - b ** 2)) @ x
SILENTLY_WRONG = not (torch.allclose(slopes[0], d_sugar) and torch.allclose(slopes[1], d_heat))
