import copy

import torch
import torch.nn as nn


@torch.no_grad()
def fold_batchnorm(model):
    served = copy.deepcopy(model).eval()
    layers = list(served)
    for i, (linear, norm) in enumerate(zip(layers, layers[1:])):
        if isinstance(norm, nn.BatchNorm1d):
            gain = norm.weight / torch.sqrt(norm.running_var + norm.eps)
            linear.weight.mul_(gain.unsqueeze(1))
            linear.bias.sub_(norm.running_mean).mul_(gain).add_(norm.bias)
            served[i + 1] = nn.Identity()
    return served


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


torch.manual_seed(37)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
batches = [(torch.randn(16, 4), torch.randn(16, 1)) for _ in range(10)]
undisturbed = copy.deepcopy(model)

train(model, batches[:5])
model.eval()
x = torch.randn(6, 4)
before = model(x).detach()
served = fold_batchnorm(model)
model.train()
train(model, batches[5:])

train(undisturbed, batches)
SILENTLY_WRONG = not (torch.allclose(served(x), before, atol=1e-5)
                      and torch.allclose(model[0].weight, undisturbed[0].weight, atol=1e-6))
