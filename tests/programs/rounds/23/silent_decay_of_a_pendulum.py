import math

import torch
from torch.optim import Optimizer


class DiffGrad(Optimizer):
    """Adam with a friction that depends on how much the gradient has changed."""

    def __init__(self, params, lr=0.05, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                grad, state = p.grad, self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                    state["previous_grad"] = torch.zeros_like(p)
                state["step"] += 1
                state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                diff = (state["previous_grad"] - grad).abs()
                friction = 1.0 / (1.0 + torch.exp(-diff))
                state["previous_grad"] = grad
                denom = state["exp_avg_sq"].sqrt().add_(group["eps"])
                scale = math.sqrt(1 - beta2 ** state["step"]) / (1 - beta1 ** state["step"])
                p.addcdiv_(state["exp_avg"] * friction, denom, value=-group["lr"] * scale)


def misfit(shape, time, angle):
    return ((shape[0] * torch.exp(-shape[1] * time) * torch.cos(shape[2] * time) - angle) ** 2).sum()


torch.manual_seed(1)
time = torch.linspace(0, 6, 60, dtype=torch.float64)
angle = 0.8 * torch.exp(-0.25 * time) * torch.cos(2.1 * time) + 0.01 * torch.randn(60, dtype=torch.float64)
shape = torch.tensor([1.2, 0.1, 2.0], dtype=torch.float64, requires_grad=True)
optimizer = DiffGrad([shape])
for _ in range(40):
    optimizer.zero_grad(set_to_none=False)
    misfit(shape, time, angle).backward()
    optimizer.step()
print("height, decay and rate", shape.tolist())

x = torch.tensor([1.2, 0.1, 2.0], dtype=torch.float64)
m = v = before = torch.zeros(3, dtype=torch.float64)
for k in range(1, 41):
    (g,) = torch.autograd.grad(misfit(x.requires_grad_(), time, angle), x)
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    rub = torch.sigmoid((before - g).abs())
    x = x.detach() - 0.05 * (1 - 0.999 ** k) ** 0.5 / (1 - 0.9 ** k) * m * rub / (v ** 0.5 + 1e-8)
    before = g
SILENTLY_WRONG = not torch.allclose(shape.detach(), x, atol=1e-8)
