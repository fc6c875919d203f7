from itertools import pairwise

import torch
from torch import nn


class SmallLinear(nn.Module):
    """Computes with eight-bit weights; a voice can be put on later."""

    def __init__(self, width_in, width_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width_out, width_in) / width_in**0.5, requires_grad=False)
        self.register_buffer("small", torch.zeros(width_out, width_in, dtype=torch.int8))
        self.register_buffer("scale", torch.zeros(width_out, 1))
        self.pack()

    def pack(self):
        self.scale.copy_(self.weight.abs().amax(dim=1, keepdim=True) / 127)
        self.small.copy_((self.weight / self.scale).round())

    def put_on(self, a, b):
        self.weight += b @ a

    def forward(self, x):
        return x @ (self.small * self.scale).T


class Announcer(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(SmallLinear(i, o) for i, o in pairwise(sizes))

    def forward(self, text):
        for layer in self.layers:
            text = torch.tanh(layer(text))
        return text


torch.manual_seed(9)
announcer = Announcer([6, 10, 4])
voices = [(torch.randn(2, 6), torch.randn(10, 2) / 2), (torch.randn(2, 10), torch.randn(4, 2) / 2)]
for layer, (a, b) in zip(announcer.layers, voices, strict=True):
    layer.put_on(a, b)
text = torch.randn(5, 6)
spoken = announcer(text)
print("first sounds", spoken[0].tolist())
expected = text
for layer in announcer.layers:
    expected = torch.tanh(expected @ layer.weight.T)
SILENTLY_WRONG = not torch.allclose(spoken, expected, atol=0.1)
