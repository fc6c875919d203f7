import copy
import math

import torch
from torch import nn

torch.manual_seed(0)


class Branch(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, hidden)
        self.out = nn.Linear(hidden, dim)

    def forward(self, x):
        return x + self.out(torch.nn.functional.gelu(self.up(self.norm(x))))


class DeepMLP(nn.Module):
    def __init__(self, block, depth):
        super().__init__()
        self.blocks = nn.ModuleList([block] * depth)
        self.scale_branches()

    @torch.no_grad()
    def scale_branches(self):
        for level, block in enumerate(self.blocks, start=1):
            block.out.weight.div_(math.sqrt(2 * level))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


block = Branch(dim=10, hidden=24)
pristine = copy.deepcopy(block)
net = DeepMLP(block, depth=4)
x = torch.randn(5, 10)

expected = x
with torch.no_grad():
    for level in range(1, 5):
        inner = torch.nn.functional.gelu(pristine.up(pristine.norm(expected)))
        expected = expected + inner @ (pristine.out.weight / math.sqrt(2 * level)).t() + pristine.out.bias
SILENTLY_WRONG = not torch.allclose(net(x), expected, atol=1e-5)
