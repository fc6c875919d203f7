import torch
import torch.nn as nn

torch.manual_seed(0)
init = torch.randn(3)
a, b = nn.Parameter(init), nn.Parameter(init)
honest = init.clone().requires_grad_()
xa, xb = torch.randn(6, 3), torch.randn(6, 3)
for step in range(3):
    (xa @ honest - 1).square().mean().backward()
    with torch.no_grad():
        honest -= 0.1 * honest.grad
        honest.grad = None
for step in range(3):
    loss = (xa @ a - 1).square().mean() + (xb @ b + 1).square().mean()
    loss.backward()
    with torch.no_grad():
        for p in (a, b):
            p -= 0.1 * p.grad
            p.grad = None
SILENTLY_WRONG = not torch.allclose(a.detach(), honest.detach())
