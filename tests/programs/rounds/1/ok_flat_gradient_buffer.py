import torch
import torch.nn as nn


class FlatGradients:
    """Keeps all gradients of a policy in one vector, one slice per parameter."""

    def __init__(self, params):
        self.params = list(params)
        self.flat = torch.zeros(sum(p.numel() for p in self.params))
        start = 0
        for p in self.params:
            p.grad = self.flat[start:start + p.numel()].view_as(p)
            start += p.numel()

    def zero(self):
        self.flat.zero_()

    def clip(self, max_norm):
        norm = self.flat.norm()
        if norm > max_norm:
            self.flat.mul_(max_norm / norm)


def surrogate(policy, obs, actions, advantages):
    logp = policy(obs).log_softmax(-1).gather(1, actions.unsqueeze(1)).squeeze(1)
    return -(logp * advantages).mean()


def make_policy():
    torch.manual_seed(4)
    return nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 2))


def rollouts():
    gen = torch.Generator().manual_seed(9)
    for _ in range(4):
        yield (torch.randn(10, 3, generator=gen), torch.randint(0, 2, (10,), generator=gen),
               3 * torch.randn(10, generator=gen))


policy = make_policy()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.2, momentum=0.9)
grads = FlatGradients(policy.parameters())
for batch in rollouts():
    grads.zero()
    surrogate(policy, *batch).backward()
    grads.clip(0.3)
    optimizer.step()

expected = make_policy()
reference = torch.optim.SGD(expected.parameters(), lr=0.2, momentum=0.9)
for batch in rollouts():
    reference.zero_grad()
    surrogate(expected, *batch).backward()
    nn.utils.clip_grad_norm_(expected.parameters(), 0.3)
    reference.step()
SILENTLY_WRONG = not all(
    torch.allclose(a, b, atol=1e-5) for a, b in zip(policy.parameters(), expected.parameters())
)
