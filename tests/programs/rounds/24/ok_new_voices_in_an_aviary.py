import copy

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))


def adapt(model, support, steps, lr):
    learner = copy.deepcopy(model)
    learner.train()
    call, bird = support
    for _ in range(steps):
        loss = nn.functional.cross_entropy(learner(call), bird)
        grads = torch.autograd.grad(loss, list(learner.parameters()))
        with torch.no_grad():
            for p, g in zip(learner.parameters(), grads):
                p -= lr * g
    return learner


def evaluate(model, tasks):
    scores = []
    for support, (call, bird) in tasks:
        learner = adapt(model, support, steps=3, lr=0.1)
        with torch.no_grad():
            scores.append(nn.functional.cross_entropy(learner(call), bird).item())
    return scores


def task(seed):
    gen = torch.Generator().manual_seed(seed)
    bird = torch.arange(16) % 2
    call = torch.randn(32, 4, generator=gen) + torch.randn(2, 4, generator=gen)[bird.repeat(2)]
    return (call[:16], bird), (call[16:], bird)


torch.manual_seed(41)
model = build().eval()
before = {name: value.clone() for name, value in model.state_dict().items()}
tasks = [task(seed) for seed in range(5)]
forward = evaluate(model, tasks)
backward = evaluate(model, tasks[::-1])
print("losses", forward)
same = all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
close = max(abs(a - b) for a, b in zip(forward, backward[::-1])) < 1e-6
SILENTLY_WRONG = not (same and close)
