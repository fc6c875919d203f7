import torch
import torch.nn as nn


def dense_layer(channels, growth):
    return nn.Sequential(
        nn.BatchNorm2d(channels),
        nn.ReLU(inplace=True),
        nn.Conv2d(channels, growth, 3, padding=1, bias=False),
        nn.Dropout(0.2),
    )


class DenseBlock(nn.Module):
    def __init__(self, channels, growth, depth):
        super().__init__()
        self.layers = nn.ModuleList(dense_layer(channels + i * growth, growth) for i in range(depth))

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            new = layer(torch.cat(features, dim=1))
            features.append(new)
        return torch.cat(features, dim=1)


torch.manual_seed(0)
block = DenseBlock(4, 2, 3)
head = nn.Conv2d(10, 1, 1)
out = head(block(torch.randn(2, 4, 5, 5)))
out.pow(2).mean().backward()
