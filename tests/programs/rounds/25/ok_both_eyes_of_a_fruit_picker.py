import torch
from torch import nn


class Eye(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.look = nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, width))

    def forward(self, strip):
        return self.look(strip)


class Picker(nn.Module):
    """Both cameras are of one make and are read by one and the same eye."""

    def __init__(self, width=10):
        super().__init__()
        self.eyes = nn.ModuleList([Eye(width)] * 2)
        self.reach = nn.Linear(width, 1)

    def forward(self, left, right):
        a, b = (eye(strip) for eye, strip in zip(self.eyes, (left, right)))
        return self.reach(a - b)


torch.manual_seed(20)
picker = Picker()
start = {name: value.detach().clone() for name, value in picker.named_parameters()}
left = torch.randn(60, 8)
right = left.roll(1, dims=1) + 0.1 * torch.randn(60, 8)
depth = (left - right).abs().mean(dim=1, keepdim=True)
optimizer = torch.optim.SGD(picker.parameters(), lr=0.1)
for epoch in range(40):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(picker(left, right), depth)
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4), "weights", sum(p.numel() for p in picker.parameters()))

values = [value.requires_grad_() for value in start.values()]
for epoch in range(40):
    a, b, c, d, e, f = values
    seen = [torch.tanh(strip @ a.T + b) @ c.T + d for strip in (left, right)]
    error = ((seen[0] - seen[1]) @ e.T + f - depth).square().mean()
    values = [(v - 0.1 * s).detach().requires_grad_() for v, s in zip(values, torch.autograd.grad(error, values))]
SILENTLY_WRONG = not torch.allclose(picker.reach.weight, values[4], atol=1e-4) or abs(error.item() - loss.item()) > 1e-4
