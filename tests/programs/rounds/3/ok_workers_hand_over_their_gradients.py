import copy

import torch
from torch import nn

torch.manual_seed(0)


class Worker:
    def __init__(self, shared):
        self.shared = shared
        self.local = copy.deepcopy(shared)

    def gradients(self, x, y):
        self.local.load_state_dict(self.shared.state_dict())
        self.local.zero_grad()
        nn.functional.mse_loss(self.local(x), y).backward()
        nn.utils.clip_grad_norm_(self.local.parameters(), 1.0)
        for mine, theirs in zip(self.local.parameters(), self.shared.parameters()):
            theirs.grad = mine.grad


def train(shared, workers, rounds, lr=0.2):
    optimizer = torch.optim.SGD(shared.parameters(), lr=lr)
    for x, y in rounds:
        for worker, xs, ys in zip(workers, x.chunk(2), y.chunk(2)):
            worker.gradients(xs, ys)
            optimizer.step()
            optimizer.zero_grad()


rounds = [(torch.randn(8, 3), torch.randn(8, 1)) for _ in range(4)]
shared = nn.Linear(3, 1)
weight, bias = shared.weight.detach().clone(), shared.bias.detach().clone()
train(shared, [Worker(shared), Worker(shared)], rounds)

for x, y in rounds:
    for xs, ys in zip(x.chunk(2), y.chunk(2)):
        w, b = weight.clone().requires_grad_(), bias.clone().requires_grad_()
        grads = torch.autograd.grad(nn.functional.mse_loss(xs @ w.t() + b, ys), (w, b))
        norm = torch.sqrt(sum(g.square().sum() for g in grads))
        scale = min(1.0, 1.0 / (norm.item() + 1e-6))
        weight, bias = weight - 0.2 * scale * grads[0], bias - 0.2 * scale * grads[1]
SILENTLY_WRONG = not torch.allclose(shared.weight, weight, atol=1e-5)
