import torch
import torch.nn as nn


class Detect(nn.Module):
    def __init__(self, channels, stride):
        super().__init__()
        self.m, self.stride = nn.Conv2d(channels, 5, 1), stride

    def forward(self, x):
        x = self.m(x).permute(0, 2, 3, 1)
        if self.training:
            return x
        y = x.sigmoid()
        grid = torch.stack(torch.meshgrid(torch.arange(3), torch.arange(3), indexing="xy"), dim=-1)
        y[..., 0:2] = (y[..., 0:2] * 2 - 0.5 + grid) * self.stride
        y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * self.stride
        return y


torch.manual_seed(0)
detect = Detect(4, 8.0)
detect(torch.randn(1, 4, 3, 3)).pow(2).mean().backward()
detect.eval()
with torch.no_grad():
    out = detect(torch.randn(1, 4, 3, 3))
