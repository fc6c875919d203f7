import torch
from torch import nn


class Descent:
    """Gradient descent with momentum, to which groups can be added later."""

    def __init__(self, params, lr, momentum=0.5):
        self.momentum = momentum
        self.param_groups = [{"params": list(params), "lr": lr}]
        self.pairs = [(p, g) for g in self.param_groups for p in g["params"]]
        self.speed = {p: torch.zeros_like(p) for p, _ in self.pairs}

    def add_param_group(self, group):
        group = {"lr": self.param_groups[0]["lr"], **group}
        group["params"] = list(group["params"])
        self.param_groups.append(group)
        self.speed.update({p: torch.zeros_like(p) for p in group["params"]})

    def zero_grad(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.grad = None

    @torch.no_grad()
    def step(self):
        for p, group in self.pairs:
            self.speed[p].mul_(self.momentum).add_(p.grad)
            p -= group["lr"] * self.speed[p]


torch.manual_seed(5)
angle = torch.linspace(-1.2, 1.2, 30)
hour = 12 + 3.5 * angle + 0.05 * torch.randn(30)
slope, offset = nn.Parameter(torch.tensor(1.0)), nn.Parameter(torch.tensor(10.0))
descent = Descent([slope], lr=0.1)
descent.add_param_group({"params": [offset], "lr": 0.2})
for _ in range(80):
    descent.zero_grad()
    (slope * angle + offset - hour).square().mean().backward()
    descent.step()
print("slope", slope.item(), "noon", offset.item())

best = torch.linalg.lstsq(torch.stack([angle, torch.ones(30)], dim=1), hour[:, None]).solution.squeeze(1)
SILENTLY_WRONG = not torch.allclose(torch.stack([slope, offset]), best, atol=1e-2)
