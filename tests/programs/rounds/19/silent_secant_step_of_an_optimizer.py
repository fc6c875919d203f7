import torch


class SecantDescent(torch.optim.Optimizer):
    """Gradient descent with the step length of Barzilai and Borwein."""

    def __init__(self, params, first=0.01, longest=1.0):
        super().__init__(params, dict(first=first, longest=longest))

    @torch.no_grad()
    def step(self, closure):
        with torch.enable_grad():
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                length = group["first"]
                if "slope" in state:
                    moved, turned = p - state["place"], p.grad - state["slope"]
                    product = (moved * turned).sum()
                    if product > 0:
                        length = min((moved.square().sum() / product).item(), group["longest"])
                state["place"], state["slope"] = p.clone(), p.grad
                p.sub_(p.grad, alpha=length)
        return loss


def residuals(params, time):
    height, rate, rest = params
    return height * torch.exp(-rate.exp() * time) + rest


def fit(time, seen, steps):
    params = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
    optimizer = SecantDescent([params])
    history = []

    def closure():
        optimizer.zero_grad(set_to_none=False)
        loss = (residuals(params, time) - seen).square().mean()
        loss.backward()
        return loss

    for _ in range(steps):
        history.append(optimizer.step(closure).item())
    return params.detach(), history


torch.manual_seed(1917)
time = torch.linspace(0, 4, 30, dtype=torch.float64)
seen = 2.5 * torch.exp(-0.8 * time) + 0.3 + 0.02 * torch.randn(30, dtype=torch.float64)
found, history = fit(time, seen, steps=12)

place, before, slope_before = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64), None, None
for _ in range(12):
    fall = torch.exp(-place[1].exp() * time)
    error = 2 * (place[0] * fall + place[2] - seen) / 30
    slope = torch.stack([error @ fall, -(error * place[0] * fall * time).sum() * place[1].exp(), error.sum()])
    length = 0.01
    if before is not None and (place - before) @ (slope - slope_before) > 0:
        moved = place - before
        length = min((moved @ moved / (moved @ (slope - slope_before))).item(), 1.0)
    before, slope_before, place = place, slope, place - length * slope
SILENTLY_WRONG = not torch.allclose(found, place)
