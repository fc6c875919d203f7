import torch
import torch.nn as nn


class FrictionSGD(torch.optim.Optimizer):
    """Momentum whose step is damped where the gradient hardly changes."""

    def __init__(self, params, lr=0.05, beta=0.9):
        super().__init__(params, dict(lr=lr, beta=beta))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                grad = p.grad
                state = self.state[p]
                if not state:
                    state["average"] = torch.zeros_like(p)
                    state["previous"] = torch.zeros_like(p)
                friction = torch.sigmoid((state["previous"] - grad).abs())
                state["average"].mul_(group["beta"]).add_(grad, alpha=1 - group["beta"])
                p.sub_(group["lr"] * friction * state["average"])
                state["previous"] = grad


torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.randn(32, 1)
model = nn.Linear(4, 1, bias=False)
start = model.weight.detach().clone()

optimizer = FrictionSGD(model.parameters())
for epoch in range(10):
    optimizer.zero_grad(set_to_none=False)
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()

weight = start
average, previous = torch.zeros_like(weight), torch.zeros_like(weight)
for epoch in range(10):
    grad = 2 * (x @ weight.t() - y).t() @ x / len(x)
    friction = torch.sigmoid((previous - grad).abs())
    average = 0.9 * average + 0.1 * grad
    weight = weight - 0.05 * friction * average
    previous = grad
SILENTLY_WRONG = not torch.allclose(model.weight, weight, atol=1e-5)
