import torch
import torch.nn as nn


class Ferry(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.port, self.starboard = nn.Linear(3, width), nn.Linear(3, width)
        self.read = nn.Linear(width, 1)

    def forward(self, port, starboard):
        thrusts = self.port(port), self.starboard(starboard)
        return self.read(torch.tanh(thrusts[0] * thrusts[1])).squeeze(1), thrusts


def limited(slope, cap):
    size = slope.norm(dim=1, keepdim=True)
    return slope.mul_((cap / size).clamp(max=1.0))


def signals(ferry, port, starboard, goal, cap):
    speed, thrusts = ferry(port, starboard)
    by_port, by_starboard = torch.autograd.grad((speed - goal).square().sum(), thrusts)
    return limited(by_port, cap), by_starboard


def descend(layer, slope, inputs, rate):
    with torch.no_grad():
        layer.weight -= rate * slope.T @ inputs
        layer.bias -= rate * slope.sum(dim=0)


torch.manual_seed(231)
ferry = Ferry(6)
port, starboard, goal = torch.randn(20, 3), torch.randn(20, 3), torch.randn(20) * 3
starts = [p.detach().clone() for p in (ferry.port.weight, ferry.starboard.weight)]
left, right = ferry.port(port).detach(), ferry.starboard(starboard).detach()
by_port, by_starboard = signals(ferry, port, starboard, goal, 0.5)
descend(ferry.port, by_port, port, 0.01)
descend(ferry.starboard, by_starboard, starboard, 0.01)

mixed = torch.tanh(left * right)
error = mixed @ ferry.read.weight[0] + ferry.read.bias - goal
slope = (2 * error[:, None] * ferry.read.weight * (1 - mixed * mixed)).detach()
own = slope * right
own = own * (0.5 / own.norm(dim=1, keepdim=True)).clamp(max=1.0)
good = torch.allclose(ferry.port.weight, starts[0] - 0.01 * own.T @ port, atol=1e-5)
other = starts[1] - 0.01 * (slope * left).T @ starboard
SILENTLY_WRONG = not (good and torch.allclose(ferry.starboard.weight, other, atol=1e-5))
