import torch


class FrictionSGD(torch.optim.Optimizer):
    """Gradient steps that are damped where the gradient has hardly changed since the last step."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad, state = p.grad, self.state[p]
                if not state:
                    state["previous"] = torch.zeros_like(p)
                change = (state["previous"] - grad).abs()
                p.add_(grad * torch.sigmoid(change), alpha=-group["lr"])
                state["previous"] = grad


def runoff(melt, degree_days, rain):
    return melt[0] * degree_days + melt[1] * rain + melt[2]


def fit(melt, degree_days, rain, gauge, rounds):
    opt = FrictionSGD([melt], lr=0.1)
    for _ in range(rounds):
        opt.zero_grad(set_to_none=False)
        loss = (runoff(melt, degree_days, rain) - gauge).square().mean()
        loss.backward()
        opt.step()
    return melt.detach()


torch.manual_seed(30)
degree_days = 2 * torch.rand(40, dtype=torch.float64)
rain = torch.rand(40, dtype=torch.float64)
gauge = 3.1 * degree_days + 0.8 * rain + 0.4 + 0.1 * torch.randn(40, dtype=torch.float64)
found = fit(torch.zeros(3, dtype=torch.float64, requires_grad=True), degree_days, rain, gauge, 8)
print("degree-day factor", found[0].item(), "rain", found[1].item(), "base flow", found[2].item())

x = torch.stack([degree_days, rain, torch.ones(40, dtype=torch.float64)], dim=1)
melt, before = torch.zeros(3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64)
for _ in range(8):
    slope = 2 * x.T @ (x @ melt - gauge) / 40
    melt = melt - 0.1 * slope / (1 + torch.exp(-(before - slope).abs()))
    before = slope
SILENTLY_WRONG = not torch.allclose(found, melt, rtol=1e-6)
