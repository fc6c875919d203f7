import copy

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm


class SlowCritic:
    """Averages the weights of a critic; what the layers only note down is taken over as it is."""

    def __init__(self, model, keep):
        self.keep = keep
        self.double = copy.deepcopy(model).eval().requires_grad_(False)

    @torch.no_grad()
    def follow(self, model):
        for slow, fast in zip(self.double.parameters(), model.parameters()):
            slow.lerp_(fast, 1 - self.keep)
        for slow, fast in zip(self.double.buffers(), model.buffers()):
            slow.copy_(fast)


torch.manual_seed(28)
model = nn.Sequential(spectral_norm(nn.Linear(5, 16)), nn.Tanh(), nn.Linear(16, 1))
slow = SlowCritic(model, keep=0.9)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
clouds = torch.randn(100, 5)
rain = torch.relu(clouds[:, :1] + clouds[:, 1:2])
trace = [{name: value.tolist() for name, value in model.state_dict().items()}]
for step in range(30):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(clouds), rain).backward()
    optimizer.step()
    slow.follow(model)
    trace.append({name: value.tolist() for name, value in model.state_dict().items()})
grades = slow.double(clouds)
print("error of the slow critic", round((grades - rain).square().mean().item(), 4))

mean = {name: torch.tensor(value) for name, value in trace[0].items()}
for entry in trace[1:]:
    mean = {name: 0.9 * value + 0.1 * torch.tensor(entry[name]) for name, value in mean.items()}
part = "0.parametrizations.weight."
weight = mean[part + "original"]
size = torch.tensor(trace[-1][part + "0._u"]) @ weight @ torch.tensor(trace[-1][part + "0._v"])
expected = torch.tanh(clouds @ (weight / size).T + mean["0.bias"]) @ mean["2.weight"].T + mean["2.bias"]
SILENTLY_WRONG = not torch.allclose(grades, expected, atol=1e-4)
