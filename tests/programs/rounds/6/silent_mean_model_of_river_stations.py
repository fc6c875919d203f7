import copy

import torch
import torch.nn as nn


def federated_average(models):
    names = list(models)
    mean = models[names[0]]
    with torch.no_grad():
        for name in names[1:]:
            for m, p in zip(mean.parameters(), models[name].parameters()):
                m += p
        for m in mean.parameters():
            m /= len(names)
    return mean


def fit(model, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(15):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


torch.manual_seed(609)
start = nn.Linear(3, 1)
stations = {}
for name in ["upper", "middle", "lower", "delta"]:
    stations[name] = copy.deepcopy(start)
    rain = torch.randn(20, 3)
    fit(stations[name], rain, rain @ torch.randn(3, 1) + torch.randn(1))

trained = {name: torch.cat([m.weight[0], m.bias]).detach().clone() for name, m in stations.items()}
mean = federated_average(stations)
drift = {}
for name, model in stations.items():
    drift[name] = sum((p - q).pow(2).sum() for p, q in zip(model.parameters(), mean.parameters()))

centre = torch.stack(list(trained.values())).mean(dim=0)
expected = {name: (w - centre).pow(2).sum() for name, w in trained.items()}
SILENTLY_WRONG = not all(torch.allclose(drift[n], expected[n], atol=1e-5) for n in stations)
