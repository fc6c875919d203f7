import copy

import torch
from torch import nn


def thick_fog(model, floes, kinds, steps=2, rate=0.1):
    """The fog that hides these floes best, found with the model at rest."""
    training = model.training
    model.eval()
    fog = torch.zeros_like(floes)
    for _ in range(steps):
        fog.requires_grad_()
        loss = nn.functional.cross_entropy(model(floes + fog), kinds)
        (slope,) = torch.autograd.grad(loss, fog)
        fog = (fog.detach() + rate * slope.sign()).clamp_(-0.15, 0.15)
    model.train(training)
    return fog


torch.manual_seed(38)
floes = 1.0 + torch.randn(48, 5, dtype=torch.float64)
kinds = (floes[:, 0] > 1).long() + (floes[:, 1] > 1).long()
model = nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 3)).double()
first = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.train()
for epoch in range(3):
    for x, y in zip(floes.split(12), kinds.split(12)):
        fog = thick_fog(model, x, y)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x + fog), y).backward()
        optimizer.step()
print("mean of the inner layer", model[1].running_mean.tolist())

w1, b1, g, h, w2, b2 = [p.detach() for p in first.parameters()]
mean, var = torch.zeros(6, dtype=torch.float64), torch.ones(6, dtype=torch.float64)
for _ in range(3):
    for x, y in zip(floes.split(12), kinds.split(12)):
        fog = torch.zeros_like(x)
        for _ in range(2):
            fog = fog.detach().requires_grad_()
            z = ((x + fog) @ w1.T + b1 - mean) / (var + 1e-5).sqrt() * g + h
            loss = nn.functional.cross_entropy(torch.tanh(z) @ w2.T + b2, y)
            fog = (fog + 0.1 * torch.autograd.grad(loss, fog)[0].sign()).detach().clamp(-0.15, 0.15)
        ps = [p.requires_grad_() for p in (w1, b1, g, h, w2, b2)]
        u = (x + fog) @ ps[0].T + ps[1]
        m, v = u.mean(dim=0), u.var(dim=0, unbiased=False)
        z = torch.tanh((u - m) / (v + 1e-5).sqrt() * ps[2] + ps[3]) @ ps[4].T + ps[5]
        slopes = torch.autograd.grad(nn.functional.cross_entropy(z, y), ps)
        w1, b1, g, h, w2, b2 = [(p - 0.1 * s).detach() for p, s in zip(ps, slopes)]
        mean, var = 0.9 * mean + 0.1 * m.detach(), 0.9 * var + 0.1 * v.detach() * 12 / 11
state = model.state_dict()
same = torch.allclose(state["1.running_mean"], mean, atol=1e-8) and torch.allclose(state["1.running_var"], var, atol=1e-8)
SILENTLY_WRONG = not (same and torch.allclose(state["3.weight"], w2, atol=1e-8))
