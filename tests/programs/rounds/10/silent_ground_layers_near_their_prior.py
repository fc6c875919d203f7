import torch
import torch.nn as nn


def kernel(depths, offsets):
    return torch.exp(-(offsets[:, None] - depths[None]).square() / 8)


def invert(readings, sensitivity, prior, damping, steps=200, rate=0.02):
    model = nn.Parameter(prior)
    optimizer = torch.optim.SGD([model], lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        misfit = (sensitivity @ model - readings).square().sum()
        departure = (model - prior).square().sum()
        (misfit + damping * departure).backward()
        optimizer.step()
    return model.detach()


def departure_table(readings, sensitivity, prior, dampings):
    rows = []
    for damping in dampings:
        layers = invert(readings, sensitivity, prior.clone(), damping)
        rows.append((damping, layers))
    return rows


torch.manual_seed(77)
depths, offsets = torch.linspace(0, 12, 10), torch.linspace(0, 12, 7)
sensitivity = kernel(depths, offsets) / 2
truth = 2 + torch.sin(depths)
prior = torch.full((10,), 2.0)
readings = sensitivity @ truth + 0.2 * torch.randn(7)
table = departure_table(readings, sensitivity, prior, dampings=[0.5, 2.0])

wrong = []
for damping, layers in table:
    normal = sensitivity.T @ sensitivity + damping * torch.eye(10)
    expected = torch.linalg.solve(normal, sensitivity.T @ readings + damping * prior)
    wrong.append(not torch.allclose(layers, expected, atol=0.05))
SILENTLY_WRONG = any(wrong)
