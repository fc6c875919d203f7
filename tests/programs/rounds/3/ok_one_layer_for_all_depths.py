import copy
import math

import torch
from torch import nn

torch.manual_seed(0)


class SharedLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, 2 * dim)
        self.out = nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.out(torch.relu(self.up(x)))


class UniversalEncoder(nn.Module):
    """The same weights at every depth, as in ALBERT."""

    def __init__(self, layer, depth):
        super().__init__()
        self.shared = layer
        self.depth = depth
        with torch.no_grad():
            self.shared.out.weight.div_(math.sqrt(depth))

    def forward(self, x):
        states = []
        for layer in [self.shared] * self.depth:
            x = layer(x)
            states.append(x)
        return states


layer = SharedLayer(5)
original = copy.deepcopy(layer)
encoder = UniversalEncoder(layer, depth=4)
x = torch.randn(3, 5)
states = encoder(x)
states[-1].sum().backward()

h, expected = x, []
for _ in range(4):
    h = h + torch.relu(original.up(h)) @ (original.out.weight / 2.0).t() + original.out.bias
    expected.append(h)
same = torch.allclose(torch.stack(states), torch.stack(expected), atol=1e-5)
SILENTLY_WRONG = not (same and len(list(encoder.parameters())) == 4)
