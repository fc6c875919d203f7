import torch
import torch.nn as nn


class Rectified(torch.optim.Optimizer):
    def __init__(self, params, lr=0.05, betas=(0.9, 0.99), eps=1e-8):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))

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
                mean.mul_(first).add_(p.grad, alpha=1 - first)
                square.mul_(second).addcmul_(p.grad, p.grad, value=1 - second)
                mean.div_(1 - first ** state["step"])
                scale = (square / (1 - second ** state["step"])).sqrt_().add_(group["eps"])
                p.addcdiv_(mean, scale, value=-group["lr"])


def fit(net, x, y, steps):
    optimizer = Rectified(net.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        (net(x).squeeze(1) - y).square().mean().backward()
        optimizer.step()


torch.manual_seed(21)
net = nn.Linear(3, 1, bias=False)
weight = net.weight.detach().clone()[0]
x, y = torch.randn(20, 3), torch.randn(20)
fit(net, x, y, steps=15)

mean, square = torch.zeros(3), torch.zeros(3)
for t in range(1, 16):
    slope = 2 * (x @ weight - y) @ x / 20
    mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope ** 2
    weight = weight - 0.05 * (mean / (1 - 0.9 ** t)) / ((square / (1 - 0.99 ** t)).sqrt() + 1e-8)
SILENTLY_WRONG = not torch.allclose(net.weight[0], weight, atol=1e-4)
