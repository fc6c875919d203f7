import torch
import torch.nn as nn


class Belief(torch.optim.Optimizer):
    def __init__(self, params, lr=0.05, betas=(0.9, 0.99), eps=1e-6, decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, decay=decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            first, second = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["step"] = 0
                    state["mean"], state["square"] = torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                mean, square = state["mean"], state["square"]
                mean.lerp_(p.grad, 1 - first)
                doubt = p.grad.sub_(mean)
                square.mul_(second).addcmul_(doubt, doubt, value=1 - second)
                scale = square.div(1 - second ** state["step"]).sqrt_().add_(group["eps"])
                p.mul_(1 - group["lr"] * group["decay"])
                p.addcdiv_(mean, scale, value=-group["lr"] / (1 - first ** state["step"]))


def fit(net, x, y, steps):
    optimizer = Belief(net.parameters(), decay=0.1)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 0.05 * min(1.0, (step + 1) / 5)
        optimizer.zero_grad(set_to_none=False)
        (net(x).squeeze(1) - y).square().mean().backward()
        optimizer.step()


torch.manual_seed(322)
net = nn.Linear(4, 1, bias=False, dtype=torch.float64)
weight = net.weight.detach().clone()[0]
x, y = torch.randn(25, 4, dtype=torch.float64), torch.randn(25, dtype=torch.float64)
fit(net, x, y, steps=20)

mean, square = torch.zeros(4, dtype=torch.float64), torch.zeros(4, dtype=torch.float64)
for t in range(1, 21):
    rate = 0.05 * min(1.0, t / 5)
    slope = 2 * (x @ weight - y) @ x / 25
    mean = 0.9 * mean + 0.1 * slope
    square = 0.99 * square + 0.01 * (slope - mean) ** 2
    scale = (square / (1 - 0.99 ** t)) ** 0.5 + 1e-6
    weight = weight * (1 - rate * 0.1) - rate / (1 - 0.9 ** t) * mean / scale
SILENTLY_WRONG = not torch.allclose(net.weight[0], weight)
