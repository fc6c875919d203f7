import torch
import torch.nn as nn


class TinyAdam(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                exp_avg, exp_avg_sq, grad = state["exp_avg"], state["exp_avg_sq"], p.grad
                grad.add_(p, alpha=0.01)
                exp_avg.lerp_(grad, 0.1)
                exp_avg_sq.mul_(0.99).addcmul_(grad, grad, value=0.01)
                p.addcdiv_(exp_avg, exp_avg_sq.sqrt().add_(1e-8), value=-group["lr"])


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 5), nn.ReLU(inplace=True), nn.Linear(5, 1))
optimizer = TinyAdam(net.parameters())
for _ in range(3):
    loss = (net(torch.randn(6, 3)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
