import torch
from torch import nn


def fit(net, batches, max_grad_norm):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    norms = []
    for pauses, height in batches:
        optimizer.zero_grad()
        (net(pauses).squeeze(1) - height).square().mean().backward()
        norms.append(nn.utils.clip_grad_norm_(net.parameters(), max_grad_norm))
        optimizer.step()
    return norms


torch.manual_seed(59)
pauses = torch.randn(48, 3)
height = pauses @ torch.tensor([2.0, 0.0, 1.0])
height[::7] *= 20
batches = list(zip(pauses.split(8), height.split(8), strict=True))
net = nn.Linear(3, 1, bias=False)
w = net.weight.detach()[0].clone()
norms = fit(net, batches, max_grad_norm=0.8)
print("norms", [round(float(n), 2) for n in norms])

for x, y in batches:
    g = 2 * (x @ w - y) @ x / 8
    w = w - 0.05 * g * min(1.0, 0.8 / (float(g.norm()) + 1e-6))
SILENTLY_WRONG = not torch.allclose(net.weight[0], w, atol=1e-4)
