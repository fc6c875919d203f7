import torch
import torch.nn as nn
from torch.func import functional_call, stack_module_state, vmap


def fit_together(models, inputs, levels, steps):
    params, buffers = stack_module_state(models)
    optimizer = torch.optim.SGD(params.values(), lr=0.2)

    def predict(p, b, x):
        return functional_call(models[0], (p, b), (x,))

    for _ in range(steps):
        optimizer.zero_grad()
        error = vmap(predict)(params, buffers, inputs) - levels
        error.pow(2).mean(dim=(1, 2)).sum().backward()
        optimizer.step()


def report(models, inputs, levels):
    with torch.no_grad():
        errors = [(m(x) - y).pow(2).mean() for m, x, y in zip(models, inputs, levels)]
    return torch.stack(errors)


torch.manual_seed(806)
hours = torch.rand(4, 60) * 50
waves = [torch.sin(hours / 2), torch.cos(hours / 2), torch.sin(hours), torch.cos(hours)]
inputs = torch.stack(waves, dim=2)
levels = inputs @ torch.randn(4, 4, 1) + 0.05 * torch.randn(4, 60, 1)

gauges = [nn.Linear(4, 1, bias=False) for _ in range(4)]
fit_together(gauges, inputs, levels, steps=400)
errors = report(gauges, inputs, levels)

best = torch.linalg.lstsq(inputs, levels).solution
expected = (inputs @ best - levels).pow(2).mean(dim=(1, 2))
SILENTLY_WRONG = not torch.allclose(errors, expected, atol=1e-4)
