import copy

import torch
from torch import nn


class Controller(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.norm = nn.BatchNorm1d(inputs, affine=False)
        self.linear = nn.Linear(inputs, 1)

    def forward(self, x):
        return self.linear(self.norm(x))[:, 0]


@torch.no_grad()
def follow(online, slow, tau):
    for param, slow_param in zip(online.parameters(), slow.parameters()):
        slow_param.lerp_(param, tau)
    for buffer, slow_buffer in zip(online.buffers(), slow.buffers()):
        slow_buffer.copy_(buffer)


torch.manual_seed(43)
online = Controller(inputs=3).double()
slow = copy.deepcopy(online).eval()
w, b = [p.detach().clone() for p in online.parameters()]
slow_w, slow_b = w, b
optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
wells = 5.0 + 2.0 * torch.randn(12, 20, 3, dtype=torch.float64)
flows = wells @ torch.tensor([0.4, -0.1, 0.2], dtype=torch.float64)
for well, flow in zip(wells, flows):
    optimizer.zero_grad()
    nn.functional.mse_loss(online(well), flow).backward()
    optimizer.step()
    follow(online, slow, tau=0.2)
drift = slow(wells[0])
print("flow by the slow copy", float(drift.detach().mean()))

mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
for x, y in zip(wells, flows):
    z = (x - x.mean(dim=0)) / (x.var(dim=0, unbiased=False) + 1e-5).sqrt()
    miss = z @ w[0] + b - y
    w, b = w - 0.2 * (miss[:, None] * z).mean(dim=0), b - 0.2 * miss.mean()
    mean, var = 0.9 * mean + 0.1 * x.mean(dim=0), 0.9 * var + 0.1 * x.var(dim=0)
    slow_w, slow_b = 0.8 * slow_w + 0.2 * w, 0.8 * slow_b + 0.2 * b
expected = (wells[0] - mean) / (var + 1e-5).sqrt() @ slow_w[0] + slow_b
SILENTLY_WRONG = not torch.allclose(drift, expected, atol=1e-9)
