import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(0)


def init_weights(m, mean=0.0, std=0.01):
    if "Conv" in m.__class__.__name__:
        m.weight.data.normal_(mean, std)


class ResBlock(nn.Module):
    def __init__(self, channels, dilations=(1, 3)):
        super().__init__()
        self.convs = nn.ModuleList(
            weight_norm(nn.Conv1d(channels, channels, 3, dilation=d, padding=d)) for d in dilations
        )
        self.convs.apply(init_weights)

    def forward(self, x):
        for conv in self.convs:
            x = x + conv(nn.functional.leaky_relu(x, 0.1))
        return x


class Vocoder(nn.Module):
    def __init__(self, mels=8, channels=16):
        super().__init__()
        self.pre = nn.Conv1d(mels, channels, 7, padding=3)
        self.blocks = nn.Sequential(ResBlock(channels), ResBlock(channels))
        self.post = nn.Conv1d(channels, 1, 7, padding=3)

    def forward(self, mel):
        return torch.tanh(self.post(self.blocks(self.pre(mel))))


vocoder = Vocoder()
audio = vocoder(torch.randn(1, 8, 20))
spread = torch.stack([conv.weight.std() for block in vocoder.blocks for conv in block.convs])
expected = torch.full((4,), 0.01)
SILENTLY_WRONG = not torch.allclose(spread, expected, rtol=0.2)
