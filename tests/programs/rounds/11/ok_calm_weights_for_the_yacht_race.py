import torch
import torch.nn as nn


class Calm:
    def __init__(self, params, decay):
        self.params, self.decay, self.steps = list(params), decay, 0
        self.shadow = [torch.zeros_like(p) for p in self.params]
        self.kept = [torch.empty_like(p) for p in self.params]

    @torch.no_grad()
    def update(self):
        self.steps += 1
        torch._foreach_mul_(self.shadow, self.decay)
        torch._foreach_add_(self.shadow, self.params, alpha=1 - self.decay)

    @torch.no_grad()
    def __enter__(self):
        for p, shadow, kept in zip(self.params, self.shadow, self.kept):
            kept.copy_(p)
            p.copy_(shadow).div_(1 - self.decay ** self.steps)

    @torch.no_grad()
    def __exit__(self, *problem):
        torch._foreach_copy_(self.params, self.kept)


torch.manual_seed(72)
net = nn.Linear(4, 1)
weight, bias = net.weight.detach().clone()[0], net.bias.detach().clone()
x, y = torch.randn(30, 4), torch.randn(30)
calm, scores = Calm(net.parameters(), 0.8), []
for step in range(12):
    grads = torch.autograd.grad((net(x).squeeze(1) - y).square().mean(), calm.params)
    with torch.no_grad():
        torch._foreach_add_(calm.params, grads, alpha=-0.1)
    calm.update()
    if step % 4 == 3:
        with calm, torch.no_grad():
            scores.append((net(x).squeeze(1) - y).square().mean().item())

track, expected = [], []
for step in range(12):
    slope = 2 * (x @ weight + bias - y) / 30
    weight, bias = weight - 0.1 * slope @ x, bias - 0.1 * slope.sum()
    track.append(torch.cat([weight, bias]))
    if step % 4 == 3:
        shares = torch.tensor([0.8 ** (step - k) for k in range(step + 1)])
        mean = (shares[:, None] * torch.stack(track)).sum(0) / shares.sum()
        expected.append((x @ mean[:4] + mean[4] - y).square().mean().item())
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(scores, expected)) > 1e-4
