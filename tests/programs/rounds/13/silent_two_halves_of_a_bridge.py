import torch
import torch.nn as nn


class Bridge(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.north, self.south = nn.Linear(3, width), nn.Linear(3, width)
        self.read = nn.Linear(width, 1)

    def forward(self, north, south):
        bends = self.north(north), self.south(south)
        return self.read(torch.tanh(bends[0] + bends[1])).squeeze(1), bends


def limited(slope, cap):
    size = slope.norm(dim=1, keepdim=True)
    return slope.mul_((cap / size).clamp(max=1.0))


def signals(bridge, north, south, goal, cap):
    sag, bends = bridge(north, south)
    by_north, by_south = torch.autograd.grad((sag - goal).square().sum(), bends)
    return limited(by_north, cap), by_south


def descend(layer, slope, inputs, rate):
    with torch.no_grad():
        layer.weight -= rate * slope.T @ inputs
        layer.bias -= rate * slope.sum(dim=0)


torch.manual_seed(131)
bridge = Bridge(6)
north, south, goal = torch.randn(20, 3), torch.randn(20, 3), torch.randn(20) * 3
weight, bias = bridge.south.weight.detach().clone(), bridge.south.bias.detach().clone()
mixed = torch.tanh(bridge.north(north) + bridge.south(south)).detach()
by_north, by_south = signals(bridge, north, south, goal, 0.5)
descend(bridge.north, by_north, north, 0.01)
descend(bridge.south, by_south, south, 0.01)

error = mixed @ bridge.read.weight[0] + bridge.read.bias - goal
slope = 2 * error[:, None] * bridge.read.weight * (1 - mixed * mixed)
expected = weight - 0.01 * slope.T @ south
SILENTLY_WRONG = not torch.allclose(bridge.south.weight, expected, atol=1e-5)
