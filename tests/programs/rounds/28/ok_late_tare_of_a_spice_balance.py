import torch
from torch import nn


class Descent:
    def __init__(self, params, lr):
        self.param_groups = [{"params": list(params), "lr": lr}]

    def add_param_group(self, group):
        self.param_groups.append({"lr": self.param_groups[0]["lr"], **group})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p -= group["lr"] * p.grad
                p.grad.zero_()


torch.manual_seed(35)
grams = torch.rand(25) * 2
shown = 1.1 * grams + 0.3
gain, tare = nn.Parameter(torch.tensor(0.5)), nn.Parameter(torch.tensor(0.0))
descent = Descent([gain], lr=0.1)
descent.add_param_group({"params": [tare], "lr": 0.2})
for _ in range(300):
    (gain * grams + tare - shown).square().mean().backward()
    descent.step()
print("gain", gain.item(), "tare", tare.item())

found = torch.stack([gain, tare]).detach()
SILENTLY_WRONG = not torch.allclose(found, torch.tensor([1.1, 0.3]), atol=1e-2)
