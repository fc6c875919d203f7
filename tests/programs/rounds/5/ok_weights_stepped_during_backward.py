import copy

import torch
from torch import nn


def step_in_backward(model, **options):
    optimizers = {p: torch.optim.Adam([p], **options) for p in model.parameters()}

    def hook(p):
        optimizers[p].step()
        optimizers[p].zero_grad()

    for p in model.parameters():
        p.register_post_accumulate_grad_hook(hook)


torch.manual_seed(9)
fused = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.LayerNorm(12), nn.Linear(12, 2))
plain = copy.deepcopy(fused)
step_in_backward(fused, lr=3e-3)
optimizer = torch.optim.Adam(plain.parameters(), lr=3e-3)
for _ in range(12):
    x, y = torch.randn(10, 6), torch.randn(10, 2)
    nn.functional.smooth_l1_loss(fused(x), y).backward()

    optimizer.zero_grad()
    nn.functional.smooth_l1_loss(plain(x), y).backward()
    optimizer.step()

pairs = zip(fused.parameters(), plain.parameters())
SILENTLY_WRONG = not all(torch.allclose(a, b, atol=1e-6) for a, b in pairs)
