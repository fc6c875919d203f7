import torch
import torch.nn as nn


class CoarseLinear(nn.Linear):
    def __init__(self, inputs, outputs, levels):
        super().__init__(inputs, outputs, bias=False)
        self.levels = levels

    def coarse(self):
        work = self.weight.detach().clone()
        scale = work.abs().amax(dim=1, keepdim=True).div_(self.levels)
        return work.div_(scale).round_().mul_(scale)

    def forward(self, x):
        weight = self.weight + (self.coarse() - self.weight).detach()
        return nn.functional.linear(x, weight)


torch.manual_seed(858)
layer = CoarseLinear(5, 3, levels=3)
start = layer.weight.detach().clone()
x, y = torch.randn(32, 5), torch.randn(32, 3)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.05)
for _ in range(15):
    optimizer.zero_grad()
    (layer(x) - y).pow(2).mean().backward()
    optimizer.step()

weight = start
for _ in range(15):
    scale = weight.abs().max(dim=1, keepdim=True).values / 3
    error = x @ (torch.round(weight / scale) * scale).T - y
    weight = weight - 0.05 * 2 * error.T @ x / error.numel()
SILENTLY_WRONG = not torch.allclose(layer.weight, weight, atol=1e-4)
