import torch
import torch.nn as nn


class Scale(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, t):
        return t.mul_(self.factor)


torch.manual_seed(0)
scale, fc = Scale(0.5), nn.Linear(4, 4)
x = torch.randn(3, 4)

logits = scale(fc(x))
weights = logits.softmax(-1)
scaled = scale(weights)
(scaled * x).sum().backward()
