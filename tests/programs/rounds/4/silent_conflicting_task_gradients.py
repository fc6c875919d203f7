import torch
import torch.nn as nn


def task_gradients(shared, losses):
    params = list(shared.parameters())
    rows = []
    for loss in losses:
        parts = torch.autograd.grad(loss, params, retain_graph=True)
        rows.append(torch.cat([g.reshape(-1) for g in parts]))
    return rows


def project_conflicts(grads):
    projected = list(grads)
    for i, g_i in enumerate(projected):
        for j, g_j in enumerate(grads):
            dot = torch.dot(g_i, g_j)
            if i != j and dot < 0:
                g_i -= dot / g_j.norm() ** 2 * g_j
    return torch.stack(projected).sum(dim=0)


torch.manual_seed(12)
shared = nn.Sequential(nn.Linear(5, 6), nn.Tanh())
heads = [nn.Linear(6, 1) for _ in range(4)]
x = torch.randn(20, 5)
hidden = shared(x)
losses = [(head(hidden) - torch.randn(20, 1)).pow(2).mean() for head in heads]

grads = task_gradients(shared, losses)
table = torch.stack(grads)
update = project_conflicts(grads)

expected = torch.zeros_like(update)
for i, row in enumerate(table):
    for j, other in enumerate(table):
        dot = row @ other
        if i != j and dot < 0:
            row = row - dot / other.norm() ** 2 * other
    expected = expected + row
SILENTLY_WRONG = not torch.allclose(update, expected, atol=1e-5)
