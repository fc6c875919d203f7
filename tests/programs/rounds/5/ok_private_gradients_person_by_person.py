import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy


def private_step(model, optimizer, x, y, bound, noise):
    per_person = []
    for i in range(len(x)):
        optimizer.zero_grad()
        cross_entropy(model(x[i:i + 1]), y[i:i + 1]).backward()
        per_person.append([p.grad for p in model.parameters()])
    optimizer.zero_grad()
    for grads in per_person:
        norm = torch.sqrt(sum(g.pow(2).sum() for g in grads))
        factor = (bound / norm).clamp(max=1)
        for p, g in zip(model.parameters(), grads):
            g.mul_(factor / len(x))
            p.grad = g if p.grad is None else p.grad.add_(g)
    for p, z in zip(model.parameters(), noise):
        p.grad.add_(z, alpha=bound / len(x))
    optimizer.step()


torch.manual_seed(3)
model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))
start = {k: v.detach().clone() for k, v in model.named_parameters()}
x, y = torch.randn(9, 5), torch.randint(0, 3, (9,))
noise = [0.1 * torch.randn_like(p) for p in model.parameters()]
private_step(model, torch.optim.SGD(model.parameters(), lr=0.5), x, y, 0.4, noise)

one = lambda w, a, b: cross_entropy(functional_call(model, w, (a[None],)), b[None])
grads = vmap(grad(one), in_dims=(None, 0, 0))(start, x, y)
norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()]).norm(dim=0)
factor = (0.4 / norms).clamp(max=1)
SILENTLY_WRONG = False
for (name, p), z in zip(model.named_parameters(), noise):
    mean = torch.einsum("n,n...->...", factor, grads[name]) / 9 + 0.4 * z / 9
    SILENTLY_WRONG |= not torch.allclose(p, start[name] - 0.5 * mean, atol=1e-6)
