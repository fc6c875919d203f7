import math

import torch
import torch.nn as nn


class RectifiedAdam(torch.optim.Optimizer):
    def __init__(self, params, lr=0.02, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))
        self.table = torch.zeros(10, 3, dtype=torch.float64)

    def rectification(self, group, t):
        row = self.table[t % 10]
        if row[0] != t:
            beta1, beta2 = group["betas"]
            longest = 2 / (1 - beta2) - 1
            length = longest - 2 * t * beta2 ** t / (1 - beta2 ** t)
            size = 1 / (1 - beta1 ** t)
            if length > 5:
                top = (length - 4) * (length - 2) * longest
                size *= math.sqrt((1 - beta2 ** t) * top / ((longest - 4) * (longest - 2) * length))
            row.copy_(torch.tensor([t, length, size]))
        return row[1].item(), row[2].item()

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["t"] = 0
                    state["first"], state["second"] = torch.zeros_like(p), torch.zeros_like(p)
                state["t"] += 1
                first, second = state["first"], state["second"]
                first.lerp_(p.grad, 1 - beta1)
                second.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                length, size = self.rectification(group, state["t"])
                if length > 5:
                    p.addcdiv_(first, second.sqrt().add_(group["eps"]), value=-group["lr"] * size)
                else:
                    p.add_(first, alpha=-group["lr"] * size)


torch.manual_seed(1903)
body, head = nn.Linear(4, 4, bias=False).double(), nn.Linear(4, 1, bias=False).double()
kept = [p.detach().clone() for p in (body.weight, head.weight)]
optimizer = RectifiedAdam([
    {"params": body.parameters()},
    {"params": head.parameters(), "betas": (0.8, 0.9)},
])
x, y = torch.randn(20, 4, dtype=torch.float64), torch.randn(20, 1, dtype=torch.float64)
for _ in range(15):
    optimizer.zero_grad()
    (head(body(x).tanh()) - y).square().mean().backward()
    optimizer.step()


def alone(weights, betas, other):
    moments = [[0.0, 0.0] for _ in weights]
    for t in range(1, 16):
        leaves = [w.clone().requires_grad_() for w in weights]
        ((x @ leaves[0].T).tanh() @ leaves[1].T - y).square().mean().backward()
        for i, (b1, b2) in enumerate(betas):
            g = leaves[i].grad
            moments[i][0] = b1 * moments[i][0] + (1 - b1) * g
            moments[i][1] = b2 * moments[i][1] + (1 - b2) * g * g
            most = 2 / (1 - b2) - 1
            n = most - 2 * t * b2 ** t / (1 - b2 ** t)
            move = moments[i][0] / (1 - b1 ** t)
            if n > 5:
                r = math.sqrt((n - 4) * (n - 2) * most / ((most - 4) * (most - 2) * n))
                move = move * r * math.sqrt(1 - b2 ** t) / (moments[i][1].sqrt() + 1e-8)
            weights[i] = weights[i] - other * move
    return weights


expected = alone(kept, [(0.9, 0.999), (0.8, 0.9)], 0.02)
SILENTLY_WRONG = not all(torch.allclose(p, w) for p, w in zip((body.weight, head.weight), expected))
