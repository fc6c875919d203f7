import torch
import torch.nn as nn
from torch.nn.utils import parametrize


class NonNegative(nn.Module):
    def forward(self, weight):
        return weight.relu_()


torch.manual_seed(0)
layer = nn.Linear(3, 2)
parametrize.register_parametrization(layer, "weight", NonNegative(), unsafe=True)
out = layer(torch.randn(4, 3))
out.sum().backward()
