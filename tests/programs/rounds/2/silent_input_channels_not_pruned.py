import torch
from torch import nn


def prune_input_channels(conv, amount):
    channels = conv.weight.data.permute(1, 0, 2, 3).reshape(conv.in_channels, -1)
    weakest = channels.norm(dim=1).argsort()[:amount]
    channels[weakest] = 0
    return weakest


def make_net():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 3, padding=1))


torch.manual_seed(0)
net = make_net()
dense = make_net()
dense.load_state_dict(net.state_dict())

dropped = prune_input_channels(net[2], amount=3)

x = torch.randn(2, 3, 6, 6)
with torch.no_grad():
    sparse_out = net(x)
    hidden = dense[:2](x)
    hidden[:, dropped] = 0
    expected = dense[2](hidden)
SILENTLY_WRONG = not torch.allclose(sparse_out, expected, atol=1e-5)
