import torch
from torch import nn


class TiedSqueezer(nn.Module):
    """Opens with the transposed weights of the squeezing layers; only the offsets are its own."""

    def __init__(self, width, inner):
        super().__init__()
        self.down = nn.Linear(width, inner)
        self.up = nn.Linear(inner, width)
        self.up.weight = nn.Parameter(self.down.weight.detach().t())

    def forward(self, x):
        return self.up(torch.tanh(self.down(x)))


def train(net, x, lr, steps):
    own = [net.down.weight, net.down.bias, net.up.bias]
    for _ in range(steps):
        net.zero_grad()
        (net(x) - x).square().mean().backward()
        with torch.no_grad():
            net.down.weight.grad += net.up.weight.grad.t()
            for p in own:
                p -= lr * p.grad


torch.manual_seed(38)
beat = torch.arange(10) / 10 * 2 * torch.pi
x = torch.sin(beat + 6.3 * torch.rand(50, 1)) * torch.rand(50, 1)
net = TiedSqueezer(10, 3)
w, b, c = [p.detach().clone().requires_grad_() for p in (net.down.weight, net.down.bias, net.up.bias)]
train(net, x, lr=0.5, steps=40)
with torch.no_grad():
    error = (net(x) - x).square().mean()
print("error", error.item())

for _ in range(40):
    loss = (torch.tanh(x @ w.T + b) @ w + c - x).square().mean()
    slopes = torch.autograd.grad(loss, (w, b, c))
    w, b, c = [(p - 0.5 * s).detach().requires_grad_() for p, s in zip((w, b, c), slopes)]
expected = (torch.tanh(x @ w.T + b) @ w + c - x).square().mean()
SILENTLY_WRONG = not torch.allclose(error, expected.detach(), atol=1e-5)
