import torch
import torch.nn as nn


class ClippedTrainer:
    def __init__(self, net, lr, limit):
        self.net, self.limit = net, limit
        self.optimizer = torch.optim.SGD(net.parameters(), lr=lr)
        self.raw, self.used = [], []

    def flat(self):
        return torch.cat([p.grad.flatten() for p in self.net.parameters()])

    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=False)
        nn.functional.mse_loss(self.net(x), y).backward()
        self.raw.append(self.flat())
        nn.utils.clip_grad_norm_(self.net.parameters(), self.limit)
        self.used.append(self.flat())
        self.optimizer.step()


torch.manual_seed(870)
net = nn.Linear(5, 2)
weight, bias = net.weight.detach().clone(), net.bias.detach().clone()
batches = [(torch.randn(10, 5), 3 * torch.randn(10, 2)) for _ in range(12)]
trainer = ClippedTrainer(net, lr=0.2, limit=0.5)
for x, y in batches:
    trainer.step(x, y)

raw = []
for x, y in batches:
    error = 2 * (x @ weight.T + bias - y) / 20
    gw, gb = error.T @ x, error.sum(dim=0)
    raw.append(torch.cat([gw.flatten(), gb]))
    factor = min(1.0, 0.5 / (raw[-1].norm().item() + 1e-6))
    weight, bias = weight - 0.2 * factor * gw, bias - 0.2 * factor * gb
expected = torch.stack(raw)
clipped = expected * (0.5 / (expected.norm(dim=1, keepdim=True) + 1e-6)).clamp(max=1.0)
SILENTLY_WRONG = not (torch.allclose(torch.stack(trainer.raw), expected, atol=1e-4)
                      and torch.allclose(torch.stack(trainer.used), clipped, atol=1e-4))
