import torch
from torch import nn


class LoRALinear(nn.Linear):
    """The correction is added to the weight itself while the layer is at rest."""

    def __init__(self, inputs, outputs, rank):
        super().__init__(inputs, outputs, dtype=torch.float64)
        self.down = nn.Parameter(0.3 * torch.randn(rank, inputs, dtype=torch.float64))
        self.up = nn.Parameter(torch.zeros(outputs, rank, dtype=torch.float64))
        self.weight.requires_grad_(False)
        self.bias.requires_grad_(False)
        self.merged = False

    def train(self, mode=True):
        super().train(mode)
        if mode and self.merged:
            self.weight.data -= self.up.data @ self.down.data
        elif not mode and not self.merged:
            self.weight.data += self.up.data @ self.down.data
        self.merged = not mode
        return self

    def forward(self, x):
        y = nn.functional.linear(x, self.weight, self.bias)
        return y if self.merged else y + x @ self.down.T @ self.up.T


torch.manual_seed(49)
rain = torch.randn(40, 4, dtype=torch.float64)
level = rain @ torch.randn(4, 2, dtype=torch.float64)
layer = LoRALinear(4, 2, rank=1)
weight, bias = layer.weight.detach().clone(), layer.bias.detach().clone()
down, up = layer.down.detach().clone(), layer.up.detach().clone()
optimizer = torch.optim.SGD([layer.down, layer.up], lr=0.1)
errors = []
for epoch in range(5):
    layer.train()
    for x, y in zip(rain.split(10), level.split(10)):
        optimizer.zero_grad()
        nn.functional.mse_loss(layer(x), y).backward()
        optimizer.step()
    layer.eval()
    errors.append(float(nn.functional.mse_loss(layer(rain), level)))
print("error by epoch", errors)

expected = []
for _ in range(5):
    for x, y in zip(rain.split(10), level.split(10)):
        miss = 2 * (x @ (weight + up @ down).T + bias - y) / y.numel()
        slope = miss.T @ x
        down, up = down - 0.1 * up.T @ slope, up - 0.1 * slope @ down.T
    expected.append(float((rain @ (weight + up @ down).T + bias - level).square().mean()))
SILENTLY_WRONG = not torch.allclose(torch.tensor(errors), torch.tensor(expected), atol=1e-6)
