import math

import torch
import torch.nn as nn


class RectifiedAdam(torch.optim.Optimizer):
    def __init__(self, params, lr=0.02, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))
        for group in self.param_groups:
            group["table"] = torch.zeros(10, 3, dtype=torch.float64)

    @staticmethod
    def rectification(group, t):
        row = group["table"][t % 10]
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
                state["first"].lerp_(p.grad, 1 - beta1)
                state["second"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                length, size = self.rectification(group, state["t"])
                move = state["first"]
                if length > 5:
                    move = move / state["second"].sqrt().add_(group["eps"])
                p.add_(move, alpha=-group["lr"] * size)


torch.manual_seed(2903)
body, head = nn.Linear(3, 4, bias=False).double(), nn.Linear(4, 1, bias=False).double()
weights = [p.detach().clone() for p in (body.weight, head.weight)]
optimizer = RectifiedAdam([{"params": body.parameters()}, {"params": head.parameters(), "betas": (0.7, 0.9)}])
x, y = torch.randn(20, 3, dtype=torch.float64), torch.randn(20, 1, dtype=torch.float64)
for _ in range(14):
    optimizer.zero_grad()
    (head(body(x).tanh()) - y).square().mean().backward()
    optimizer.step()

betas, moments = [(0.9, 0.999), (0.7, 0.9)], [[0.0, 0.0], [0.0, 0.0]]
for t in range(1, 15):
    hidden = (x @ weights[0].T).tanh()
    error = 2 * (hidden @ weights[1].T - y) / 20
    slopes = [((error @ weights[1]) * (1 - hidden ** 2)).T @ x, error.T @ hidden]
    for i, (b1, b2) in enumerate(betas):
        moments[i][0] = b1 * moments[i][0] + (1 - b1) * slopes[i]
        moments[i][1] = b2 * moments[i][1] + (1 - b2) * slopes[i] ** 2
        most = 2 / (1 - b2) - 1
        n = most - 2 * t * b2 ** t / (1 - b2 ** t)
        move = moments[i][0] / (1 - b1 ** t)
        if n > 5:
            r = math.sqrt((n - 4) * (n - 2) * most / ((most - 4) * (most - 2) * n))
            move = move * r * math.sqrt(1 - b2 ** t) / (moments[i][1].sqrt() + 1e-8)
        weights[i] = weights[i] - 0.02 * move
SILENTLY_WRONG = not all(torch.allclose(p, w) for p, w in zip((body.weight, head.weight), weights))
