import torch
import torch.nn as nn


class Router(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.score = nn.Linear(dim, experts)
        self.experts = nn.Parameter(torch.randn(experts, dim, dim) / dim ** 0.5)
        self.register_buffer("load", torch.zeros(experts))

    def forward(self, x, noise):
        soft = torch.softmax(self.score(x) + noise, dim=1)
        choice = soft.argmax(dim=1, keepdim=True)
        hard = torch.zeros_like(soft).scatter_(1, choice, 1.0)
        self.load.add_(hard.detach().sum(dim=0))
        weight = hard - soft.detach() + soft
        return torch.einsum("ne,eij,nj->ni", weight, self.experts, x)


torch.manual_seed(650)
router = Router(5, 3)
batches = [(torch.randn(8, 5), -torch.empty(8, 3).exponential_().log_()) for _ in range(4)]
total = sum(router(x, noise).pow(2).sum() for x, noise in batches)
total.backward()

a, c, e = (p.detach().clone() for p in (router.score.weight, router.score.bias, router.experts))
grad_a, grad_c, load = torch.zeros_like(a), torch.zeros_like(c), torch.zeros(3)
for x, noise in batches:
    p = torch.softmax(x @ a.t() + c + noise, dim=1)
    choice = p.argmax(dim=1)
    load = load + torch.bincount(choice, minlength=3)
    every = torch.einsum("eij,nj->nei", e, x)
    g = torch.einsum("nei,ni->ne", every, 2 * every[torch.arange(8), choice])
    g = p * (g - (g * p).sum(dim=1, keepdim=True))
    grad_a, grad_c = grad_a + g.t() @ x, grad_c + g.sum(dim=0)
SILENTLY_WRONG = not (torch.allclose(router.score.weight.grad, grad_a, atol=1e-3)
                      and torch.allclose(router.score.bias.grad, grad_c, atol=1e-3) and torch.equal(router.load, load))
