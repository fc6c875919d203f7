import torch
import torch.nn as nn


class SignDescent(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, momentum=0.9):
        super().__init__(params, dict(lr=lr, momentum=momentum))

    def prepare(self, group):
        for p in group["params"]:
            state = self.state[p]
            if group["momentum"] > 0:
                state["momentum"] = torch.zeros_like(p)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            self.prepare(group)
            for p in group["params"]:
                if p.grad is None:
                    continue
                direction = self.state[p]["momentum"]
                direction.lerp_(p.grad, 1 - group["momentum"])
                p.add_(direction.sign(), alpha=-group["lr"])


torch.manual_seed(617)
model = nn.Linear(6, 1, bias=False)
weight = model.weight.detach().clone()
optimizer = SignDescent(model.parameters(), lr=0.02)
batches = [(torch.randn(4, 6), torch.randn(4, 1)) for _ in range(25)]
for x, y in batches:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()

average = torch.zeros(1, 6)
for x, y in batches:
    gradient = 2 * (x @ weight.t() - y).t() @ x / 4
    average = 0.9 * average + 0.1 * gradient
    weight = weight - 0.02 * average.sign()
SILENTLY_WRONG = not torch.allclose(model.weight, weight, atol=1e-5)
