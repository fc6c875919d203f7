import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm


def init_weights(m, mean=0.0, std=0.01):
    if isinstance(m, nn.Conv1d):
        m.weight.data.normal_(mean, std)


class ResBlock(nn.Module):
    def __init__(self, channels, kernel_size=3, dilations=(1, 3, 5)):
        super().__init__()
        self.convs = nn.ModuleList([
            weight_norm(nn.Conv1d(channels, channels, kernel_size, dilation=d, padding=d))
            for d in dilations
        ])
        self.convs.apply(init_weights)

    def forward(self, x):
        for conv in self.convs:
            x = x + conv(F.leaky_relu(x, 0.1))
        return x


torch.manual_seed(0)
block = ResBlock(24)
mel = torch.randn(2, 24, 40)
audio = block(mel)

scales = torch.tensor([conv.weight.std().item() for conv in block.convs])
expected = torch.full_like(scales, 0.01)
SILENTLY_WRONG = not torch.allclose(scales, expected, rtol=0.2)
