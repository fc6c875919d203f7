import copy

import torch
import torch.nn as nn


class Worker:
    def __init__(self, shared, optimizer):
        self.shared = shared
        self.local = copy.deepcopy(shared)
        self.optimizer = optimizer

    def share_gradients(self):
        for param, shared_param in zip(self.local.parameters(), self.shared.parameters()):
            if shared_param.grad is not None:
                return
            shared_param.grad = param.grad

    def rollout(self, obs, returns):
        self.local.load_state_dict(self.shared.state_dict())
        value = self.local(obs).squeeze(-1)
        loss = (returns - value).pow(2).mean()
        self.local.zero_grad()
        loss.backward()
        self.share_gradients()
        self.optimizer.step()
        return loss.item()


def make_critic():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def episodes(count):
    gen = torch.Generator().manual_seed(7)
    for _ in range(count):
        yield torch.randn(12, 4, generator=gen), torch.randn(12, generator=gen)


shared = make_critic()
worker = Worker(shared, torch.optim.SGD(shared.parameters(), lr=0.1))
for obs, returns in episodes(4):
    worker.rollout(obs, returns)

reference = make_critic()
for obs, returns in episodes(4):
    error = (returns - reference(obs).squeeze(-1)).pow(2).mean()
    grads = torch.autograd.grad(error, list(reference.parameters()))
    with torch.no_grad():
        for p, g in zip(reference.parameters(), grads):
            p.sub_(g, alpha=0.1)

SILENTLY_WRONG = not all(
    torch.allclose(a, b, atol=1e-6) for a, b in zip(shared.parameters(), reference.parameters())
)
