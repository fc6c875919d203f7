import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(0)


def filled(conv, std):
    with torch.no_grad():
        conv.weight.normal_(0.0, std)
        conv.bias.zero_()
    return weight_norm(conv)


class Upsampler(nn.Module):
    def __init__(self, channels=6, layers=3):
        super().__init__()
        self.convs = nn.ModuleList(
            filled(nn.Conv1d(channels, channels, 3, padding=1), std=0.05) for _ in range(layers)
        )

    def damp(self, factor):
        with torch.no_grad():
            for conv in self.convs:
                conv.parametrizations.weight.original0.mul_(factor)

    def forward(self, x):
        for conv in self.convs:
            x = x + conv(torch.tanh(x))
        return x


net = Upsampler()
started = torch.stack([conv.weight.detach().clone() for conv in net.convs])
net.damp(0.5)
x = torch.randn(1, 6, 10)
out = net(x)

expected = x
for weight in started:
    expected = expected + nn.functional.conv1d(torch.tanh(expected), 0.5 * weight, padding=1)
spread = started.std().item()
SILENTLY_WRONG = not (abs(spread - 0.05) < 0.01 and torch.allclose(out, expected, atol=1e-5))
