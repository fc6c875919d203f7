import torch
import torch.nn as nn


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qk, self.v = nn.Linear(width, 2 * width), nn.Linear(width, width)

    def forward(self, x, mask):
        q, k = self.qk(x).chunk(2, dim=-1)
        weights = (q @ k.transpose(-2, -1)).softmax(-1) * mask
        return x + weights @ self.v(x)


torch.manual_seed(0)
layers = nn.ModuleList(Layer(4) for _ in range(2))
x = torch.randn(2, 5, 4)
mask = torch.ones(5, 5).tril()
for layer in layers:
    x = layer(x, mask)
    mask *= torch.ones(5, 5).triu(-2)
x.mean().backward()
