import copy

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm


class SlowModel:
    """Keeps a slowly following double of a model, to be used for grading."""

    def __init__(self, model, keep):
        self.keep = keep
        self.double = copy.deepcopy(model).eval()
        self.shadow = self.double.state_dict()

    @torch.no_grad()
    def follow(self, model):
        for name, value in model.state_dict().items():
            self.shadow[name].mul_(self.keep).add_(value, alpha=1 - self.keep)


def critic():
    return nn.Sequential(
        spectral_norm(nn.Linear(6, 24)), nn.Tanh(), spectral_norm(nn.Linear(24, 24)), nn.Tanh(), nn.Linear(24, 1)
    )


torch.manual_seed(27)
model = critic()
slow = SlowModel(model, keep=0.9)
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
scans = torch.randn(120, 6)
worth = torch.sin(scans[:, :1]) * scans[:, 1:2]
trace = [{name: value.tolist() for name, value in model.state_dict().items()}]
for step in range(40):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(scans), worth).backward()
    optimizer.step()
    slow.follow(model)
    trace.append({name: value.tolist() for name, value in model.state_dict().items()})
grades = slow.double(scans)
print("error of the slow critic", round((grades - worth).square().mean().item(), 4))

last = {name: torch.tensor(value) for name, value in trace[-1].items()}
mean = {name: torch.tensor(value) for name, value in trace[0].items()}
for entry in trace[1:]:
    mean = {name: 0.9 * value + 0.1 * torch.tensor(entry[name]) for name, value in mean.items()}
hidden = scans
for layer in ("0", "2"):
    part = f"{layer}.parametrizations.weight."
    weight = mean[part + "original"]
    size = last[part + "0._u"] @ weight @ last[part + "0._v"]
    hidden = torch.tanh(hidden @ (weight / size).T + mean[f"{layer}.bias"])
expected = hidden @ mean["4.weight"].T + mean["4.bias"]
SILENTLY_WRONG = not torch.allclose(grades, expected, atol=1e-3)
