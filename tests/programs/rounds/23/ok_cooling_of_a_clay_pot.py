import torch
from torch.optim import Optimizer


class BarzilaiBorwein(Optimizer):
    """Step length from the last change of the place and of the gradient."""

    def __init__(self, params, first=1e-3):
        super().__init__(params, dict(first=first))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if len(state) == 0:
                    rate = group["first"]
                    state["place"] = torch.empty_like(p)
                else:
                    moved = p - state["place"]
                    turned = p.grad - state["previous_grad"]
                    rate = (moved * moved).sum() / (moved * turned).sum().abs().clamp(min=1e-12)
                state["place"].copy_(p)
                state["previous_grad"] = p.grad
                p.sub_(rate * p.grad)


def misfit(heat, design, warmth):
    return 0.5 * (design @ heat - warmth).square().sum()


torch.manual_seed(47)
time = torch.linspace(0, 3, 40, dtype=torch.float64)
design = torch.stack([torch.exp(-time), torch.exp(-0.3 * time), torch.ones_like(time)], dim=1)
warmth = design @ torch.tensor([30.0, 12.0, 18.0], dtype=torch.float64) + 0.05 * torch.randn(40, dtype=torch.float64)
heat = torch.zeros(3, dtype=torch.float64, requires_grad=True)
optimizer = BarzilaiBorwein([heat])
path = []
for _ in range(15):
    optimizer.zero_grad(set_to_none=True)
    misfit(heat, design, warmth).backward()
    optimizer.step()
    path.append(heat.detach().clone())
print("heat of the parts", heat.tolist())

x, gram, pull = torch.zeros(3, dtype=torch.float64), design.T @ design, design.T @ warmth
expected, rate = [], 1e-3
for k in range(15):
    g = gram @ x - pull
    if k > 0:
        rate = (x - last) @ (x - last) / ((x - last) @ (g - last_g)).abs()
    last, last_g = x, g
    x = x - rate * g
    expected.append(x)
SILENTLY_WRONG = not torch.allclose(torch.stack(path), torch.stack(expected), rtol=1e-5, atol=1e-5)
