import torch
from torch import nn


class TwoSpeeds:
    def __init__(self, optimizer, every=4, pull=0.5):
        self.optimizer, self.every, self.pull = optimizer, every, pull
        self.slow = [[p.detach().clone() for p in g["params"]] for g in optimizer.param_groups]
        self.calls = 0

    def zero_grad(self):
        self.optimizer.zero_grad()

    @torch.no_grad()
    def step(self):
        self.optimizer.step()
        self.calls += 1
        if self.calls % self.every == 0:
            for group, slow in zip(self.optimizer.param_groups, self.slow):
                torch._foreach_lerp_(slow, group["params"], self.pull)
                for p, s in zip(group["params"], slow):
                    p.copy_(s)


torch.manual_seed(10)
model = nn.Linear(4, 1)
w = torch.cat([model.weight.detach().flatten(), model.bias.detach()]).double()
optimizer = TwoSpeeds(torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.8))
batches = [(torch.randn(9, 4), torch.randn(9, 1)) for _ in range(14)]
for x, y in batches:
    optimizer.zero_grad()
    (model(x) - y).square().mean().backward()
    optimizer.step()

slow, velocity = w, torch.zeros(5, dtype=torch.float64)
for n, (x, y) in enumerate(batches, start=1):
    design = torch.cat([x, torch.ones(9, 1)], dim=1).double()
    velocity = 0.8 * velocity + 2 * design.t() @ (design @ w - y[:, 0].double()) / 9
    w = w - 0.05 * velocity
    if n % 4 == 0:
        slow = 0.5 * slow + 0.5 * w
        w = slow
learned = torch.cat([model.weight.detach().flatten(), model.bias.detach()]).double()
SILENTLY_WRONG = not torch.allclose(learned, w, atol=1e-5)
