import torch
import torch.nn as nn


class ResBlock(nn.Module):
    def __init__(self, channels, inplace):
        super().__init__()
        self.conv = nn.Sequential(
            nn.ReLU(inplace=inplace),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(channels, channels, 1),
        )

    def forward(self, input):
        out = self.conv(input)
        out += input
        return out


torch.manual_seed(0)
stem, block = nn.Conv2d(1, 3, 1), ResBlock(3, True)
plain = ResBlock(3, False)
plain.load_state_dict(block.state_dict())
image = torch.randn(2, 1, 4, 4)
reference = plain(stem(image)).detach()
out = block(stem(image))
out.mean().backward()
SILENTLY_WRONG = not torch.allclose(out, reference)
