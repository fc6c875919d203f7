import torch
from torch import nn


class ChannelPruner:
    def __init__(self, conv, amount):
        self.conv = conv
        strength = conv.weight.detach().permute(1, 0, 2, 3).reshape(conv.in_channels, -1).norm(dim=1)
        self.inputs = strength.argsort()[:amount]
        self.outputs = conv.weight.detach().flatten(1).norm(dim=1).argsort()[:1]

    @torch.no_grad()
    def apply(self):
        weight = self.conv.weight
        weight[:, self.inputs] = 0
        rows = weight.view(self.conv.out_channels, -1)
        rows[self.outputs] = 0
        self.conv.bias[self.outputs] = 0


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 3, padding=1))
pruner = ChannelPruner(net[2], amount=3)
pruner.apply()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(4, 3, 6, 6), torch.randn(4, 4, 6, 6)
for _ in range(3):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
    pruner.apply()

with torch.no_grad():
    out = net(x)
    keep_in = torch.ones(8).index_fill(0, pruner.inputs, 0)
    keep_out = torch.ones(4).index_fill(0, pruner.outputs, 0)
    hidden = net[:2](x) * keep_in[:, None, None]
    expected = nn.functional.conv2d(hidden, net[2].weight, net[2].bias, padding=1) * keep_out[:, None, None]
SILENTLY_WRONG = not (torch.allclose(out, expected, atol=1e-6) and bool((out[:, pruner.outputs] == 0).all()))
