import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def adapt(model, meta, task, steps=3, lr=0.1):
    vector_to_parameters(meta, model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    x, y = task
    for _ in range(steps):
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return parameters_to_vector(model.parameters()).detach()


def reptile(model, tasks, outer_lr=0.5):
    meta = parameters_to_vector(model.parameters()).detach()
    adapted = torch.stack([adapt(model, meta, task) for task in tasks])
    return meta + outer_lr * (adapted.mean(0) - meta)


torch.manual_seed(0)
tasks = [(torch.randn(10, 3), torch.randn(10, 1)) for _ in range(4)]
model = nn.Linear(3, 1)
start = [p.detach().clone() for p in model.parameters()]
meta = reptile(model, tasks)

ends = []
for x, y in tasks:
    w, b = (p.clone().requires_grad_() for p in start)
    for _ in range(3):
        gw, gb = torch.autograd.grad((x @ w.t() + b - y).square().mean(), (w, b))
        w, b = (w - 0.1 * gw).detach().requires_grad_(), (b - 0.1 * gb).detach().requires_grad_()
    ends.append(torch.cat([w.flatten(), b]).detach())
origin = torch.cat([p.flatten() for p in start])
expected = origin + 0.5 * (torch.stack(ends).mean(0) - origin)
SILENTLY_WRONG = not torch.allclose(meta, expected, atol=1e-5)
