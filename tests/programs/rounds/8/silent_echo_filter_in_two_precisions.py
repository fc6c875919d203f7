import torch
import torch.nn as nn


def fake_quantise(weight, bits):
    levels = 2 ** (bits - 1) - 1
    scale = weight.abs().max() / levels
    return weight.div_(scale).round_().clamp_(-levels, levels).mul_(scale)


class EchoNet(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.near = nn.Conv1d(channels, channels, 5, padding=2, bias=False)
        self.far = nn.Conv1d(channels, channels, 5, padding=2, bias=False)
        self.far.weight = self.near.weight

    def forward(self, sound):
        return self.near(sound) + 0.5 * self.far(sound.flip(-1))


@torch.no_grad()
def apply_plan(net, plan):
    for name, bits in plan.items():
        layer = net.get_submodule(name)
        layer.weight = nn.Parameter(fake_quantise(layer.weight, bits))


torch.manual_seed(808)
net = EchoNet(channels=3)
weight = net.near.weight.detach().clone()
apply_plan(net, {"near": 8, "far": 3})
sound = torch.randn(2, 3, 40)
with torch.no_grad():
    heard = net(sound)

fine = torch.round(weight * 127 / weight.abs().max()) * weight.abs().max() / 127
coarse = torch.round(weight * 3 / weight.abs().max()) * weight.abs().max() / 3
expected = nn.functional.conv1d(sound, fine, padding=2)
expected = expected + 0.5 * nn.functional.conv1d(sound.flip(-1), coarse, padding=2)
SILENTLY_WRONG = not torch.allclose(heard, expected, atol=1e-3)
