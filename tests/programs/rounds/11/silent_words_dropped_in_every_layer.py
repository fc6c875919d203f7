from functools import partial

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x, keep):
        return x + torch.tanh(self.linear(x * keep))


class Reader(nn.Module):
    def __init__(self, width, depth, generator):
        super().__init__()
        self.layers = nn.ModuleList(Layer(width) for _ in range(depth))
        self.generator = generator
        self.keep = torch.empty(0)

    def forward(self, x):
        if self.keep.shape != x.shape:
            self.keep = torch.empty_like(x)
        for layer in self.layers:
            self.keep.bernoulli_(0.7, generator=self.generator).div_(0.7)
            x = checkpoint(partial(layer, keep=self.keep), x, use_reentrant=True)
        return x


torch.manual_seed(9)
reader = Reader(6, 3, torch.Generator().manual_seed(77))
words = torch.randn(4, 6, requires_grad=True)
reader(words).square().sum().backward()
grads = [p.grad for p in reader.parameters()]

generator = torch.Generator().manual_seed(77)
x = words
for layer in reader.layers:
    keep = torch.empty(4, 6).bernoulli_(0.7, generator=generator) / 0.7
    x = layer(x, keep)
expected = torch.autograd.grad(x.square().sum(), list(reader.parameters()))
SILENTLY_WRONG = not all(torch.allclose(a, b, atol=1e-5) for a, b in zip(grads, expected))
