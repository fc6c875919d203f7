import copy

import torch
import torch.nn as nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def fit(model, x, y, lr, steps=15):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()


def sweep(model, x, y, rates):
    """Trains from the same weights once for every learning rate."""
    start = parameters_to_vector(model.parameters()).detach()
    results = {}
    for lr in rates:
        vector_to_parameters(start, model.parameters())
        results[lr] = fit(model, x, y, lr)
    return results


torch.manual_seed(0)
x = torch.randn(40, 3)
y = (x[:, :1] * x[:, 1:2]).tanh()
model = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 1))
fresh = copy.deepcopy(model)
rates = [0.2, 0.1, 0.02]

results = sweep(model, x, y, rates)
expected = {lr: fit(copy.deepcopy(fresh), x, y, lr) for lr in rates}
SILENTLY_WRONG = any(abs(results[lr] - expected[lr]) > 1e-6 for lr in rates)
