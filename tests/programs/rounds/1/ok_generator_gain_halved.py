import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm


class UpBlock(nn.Module):
    def __init__(self, in_ch, out_ch):
        super().__init__()
        self.up = weight_norm(nn.ConvTranspose1d(in_ch, out_ch, 4, stride=2, padding=1))
        self.smooth = weight_norm(nn.Conv1d(out_ch, out_ch, 3, padding=1))

    def forward(self, x):
        return self.smooth(F.leaky_relu(self.up(x), 0.1))


@torch.no_grad()
def scale_gain(module, factor):
    """Multiplies the magnitude of every weight-normed convolution and its bias."""
    for layer in module.modules():
        if nn.utils.parametrize.is_parametrized(layer, "weight"):
            layer.parametrizations.weight.original0.mul_(factor)
            layer.bias.mul_(factor)


torch.manual_seed(0)
block = UpBlock(6, 4)
mel = torch.randn(2, 6, 10)
up_weight, up_bias = block.up.weight.detach() * 0.5, block.up.bias.detach() * 0.5
out_weight, out_bias = block.smooth.weight.detach() * 0.5, block.smooth.bias.detach() * 0.5

scale_gain(block, 0.5)
audio = block(mel)

hidden = F.leaky_relu(F.conv_transpose1d(mel, up_weight, up_bias, stride=2, padding=1), 0.1)
expected = F.conv1d(hidden, out_weight, out_bias, padding=1)
SILENTLY_WRONG = not torch.allclose(audio, expected, atol=1e-5)
