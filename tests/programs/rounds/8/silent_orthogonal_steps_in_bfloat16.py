import torch
import torch.nn as nn


def newton_schulz(matrix, rounds=4):
    x = matrix.bfloat16()
    x.div_(x.norm() + 1e-6)
    for _ in range(rounds):
        x = 1.5 * x - 0.5 * (x @ x.T) @ x
    return x.to(matrix.dtype)


class OrthogonalMomentum(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum):
        super().__init__(params, dict(lr=lr, momentum=momentum))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["average"] = torch.zeros_like(p)
                state["average"].lerp_(p.grad, 1 - group["momentum"])
                p.add_(newton_schulz(state["average"]), alpha=-group["lr"])


torch.manual_seed(813)
layer = nn.Linear(6, 4, bias=False, dtype=torch.bfloat16)
start = layer.weight.detach().clone()
batches = [torch.randn(16, 6).bfloat16() for _ in range(12)]
target = torch.randn(6, 4).bfloat16() * 3

optimizer = OrthogonalMomentum(layer.parameters(), lr=0.1, momentum=0.8)
for x in batches:
    optimizer.zero_grad()
    (layer(x) - x @ target).pow(2).sum().backward()
    optimizer.step()

weight, average = start, torch.zeros_like(start)
for x in batches:
    weight = weight.detach().requires_grad_()
    grad, = torch.autograd.grad((nn.functional.linear(x, weight) - x @ target).pow(2).sum(), weight)
    average = average.lerp(grad, 0.2)
    weight = weight - 0.1 * newton_schulz(average.clone())
SILENTLY_WRONG = not torch.allclose(layer.weight, weight, atol=0.03)
