import torch
import torch.nn as nn


class NesterovSGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                d_p = p.grad
                if group["weight_decay"]:
                    d_p.add_(p, alpha=group["weight_decay"])
                velocity = self.state[p].setdefault("velocity", torch.zeros_like(p))
                velocity.mul_(group["momentum"]).add_(d_p)
                p.add_(d_p + group["momentum"] * velocity, alpha=-group["lr"])


class NoiseMonitor:
    def __init__(self, model):
        self.model, self.small = model, []

    def record(self):
        flat = torch.cat([p.grad.reshape(-1) for p in self.model.parameters()])
        self.small.append(flat.pow(2).sum())

    def report(self):
        return torch.stack(self.small)


torch.manual_seed(611)
model = nn.Linear(5, 1)
optimizer = NesterovSGD(model.parameters(), lr=0.02, weight_decay=0.4)
monitor = NoiseMonitor(model)
expected = []
for _ in range(8):
    x, y = torch.randn(12, 5), torch.randn(12, 1)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    pure = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    expected.append(sum(g.pow(2).sum() for g in pure))
    loss.backward()
    optimizer.step()
    monitor.record()
SILENTLY_WRONG = not torch.allclose(monitor.report(), torch.stack(expected), atol=1e-4)
