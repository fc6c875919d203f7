import torch


class FrictionSGD(torch.optim.Optimizer):
    """Gradient steps that are damped where the gradient has hardly changed since the last step."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                before = state.get("previous", torch.zeros_like(p))
                p.sub_(group["lr"] * p.grad * torch.sigmoid((before - p.grad).abs()))
                state["previous"] = p.grad


def swing(theta, t):
    return theta[0] * torch.exp(-theta[1] * t) * torch.cos(2 * t)


def fit(theta, t, angle, rounds):
    opt = FrictionSGD([theta], lr=0.3)
    for _ in range(rounds):
        opt.zero_grad()
        loss = (swing(theta, t) - angle).square().mean()
        loss.backward()
        opt.step()
    return theta.detach()


torch.manual_seed(31)
t = torch.linspace(0, 6, 60, dtype=torch.float64)
angle = 0.9 * torch.exp(-0.15 * t) * torch.cos(2 * t) + 0.01 * torch.randn(60, dtype=torch.float64)
start = torch.tensor([0.3, 0.4], dtype=torch.float64)
found = fit(start.clone().requires_grad_(), t, angle, rounds=12)
print("swing and damping", found.tolist())

theta, before = start, torch.zeros(2, dtype=torch.float64)
for _ in range(12):
    decay = torch.exp(-theta[1] * t) * torch.cos(2 * t)
    miss = 2 * (theta[0] * decay - angle) / 60
    slope = torch.stack([(miss * decay).sum(), (-miss * theta[0] * t * decay).sum()])
    theta = theta - 0.3 * slope / (1 + torch.exp(-(before - slope).abs()))
    before = slope
SILENTLY_WRONG = not torch.allclose(found, theta, rtol=1e-8)
