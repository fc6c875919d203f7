import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, width, 1), nn.Sigmoid())
        self.body = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return self.body(x) * self.gate(x)


class Restorer(nn.Module):
    def __init__(self, width=3, depth=2):
        super().__init__()
        self.head = nn.Conv2d(1, width, 3, padding=1)
        self.blocks = nn.ModuleList([Attention(width) for _ in range(depth)])
        self.tail = nn.Conv2d(2 * width, 1, 3, padding=1)

    def forward(self, image):
        x = torch.relu(self.head(image))
        out = x
        for block in self.blocks:
            out += block(out)
        return self.tail(torch.cat([x, out], dim=1))


torch.manual_seed(5)
net = Restorer()
image = torch.rand(1, 1, 6, 6)
loss = (net(image) - image).abs().mean()
loss.backward()
