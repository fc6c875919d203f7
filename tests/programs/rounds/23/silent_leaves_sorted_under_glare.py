import copy

import torch
from torch import nn


def worst_glare(model, leaves, species, steps=3, rate=0.1):
    """The one change of the light that harms the sorter most on these leaves."""
    model.eval()
    glare = torch.zeros(leaves.shape[1], dtype=leaves.dtype, requires_grad=True)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(leaves + glare), species)
        (slope,) = torch.autograd.grad(loss, glare)
        glare = (glare + rate * slope.sign()).detach().requires_grad_()
    return glare.detach()


def train(model, leaves, species, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for epoch in range(epochs):
        for x, y in zip(leaves.split(16), species.split(16)):
            glare = worst_glare(model, x, y)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x + glare), y)
            loss.backward()
            optimizer.step()


torch.manual_seed(9)
leaves = 3.0 + 2.0 * torch.randn(64, 6, dtype=torch.float64)
species = (leaves[:, :3] - 3.0).argmax(dim=1)
sorter = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)).double()
twin = copy.deepcopy(sorter)
train(sorter, leaves, species, epochs=4)
sorter.eval()
print("sorted rightly", float((sorter(leaves).argmax(dim=1) == species).double().mean()))

weights = list(twin.parameters())
for _ in range(4):
    for x, y in zip(leaves.split(16), species.split(16)):
        light = torch.zeros(6, dtype=torch.float64)
        for _ in range(3):
            light.requires_grad_()
            for part in twin.modules():
                part.training = False
            (up,) = torch.autograd.grad(nn.functional.cross_entropy(twin(x + light), y), light)
            light = (light + 0.1 * up.sign()).detach()
        for part in twin.modules():
            part.training = True
        slopes = torch.autograd.grad(nn.functional.cross_entropy(twin(x + light), y), weights)
        with torch.no_grad():
            for p, s in zip(weights, slopes):
                p.sub_(0.1 * s)
same = all(torch.allclose(a, b, atol=1e-8) for a, b in zip(sorter.state_dict().values(), twin.state_dict().values()))
SILENTLY_WRONG = not same
