"""Setups of programs whose parameters, buffers and gradients are one memory."""

from __future__ import annotations

import textwrap

NET = """
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight
    def forward(self, words):
        return self.head(torch.tanh(self.embed(words)))
words, after = torch.randint(7, (9,)), torch.randint(7, (9,))
def train(net, opt=torch.optim.SGD, steps=3):
    opt = opt(net.parameters(), lr=0.1)
    for _ in range(steps):
        opt.zero_grad()
        F.cross_entropy(net(words), after).backward()
        opt.step()
    return net(words)
"""
BANK = """
class Bank(nn.Module):
    def __init__(self):
        super().__init__()
        self.bank = nn.Parameter(torch.ones(6))
        self.low, self.high = (nn.Parameter(part) for part in self.bank.detach().split(3))
    def forward(self, x):
        return (x * self.low).sum() + (x * self.high).sum()
x = torch.ones(3)
"""
LEVELS = """
class Reader(nn.Module):
    def __init__(self, level):
        super().__init__()
        self.register_buffer("level", level)
    def forward(self, x):
        return x * self.level
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        level = torch.ones(1)
        self.write, self.read = Reader(level), Reader(level)
    def forward(self, x):
        self.write.level.lerp_(x.mean(), 0.5)
        return self.read(x)
x = torch.arange(4.0, dtype=torch.float64)
"""
BUCKET = """
w, b = torch.ones(3, requires_grad=True), torch.ones(1, requires_grad=True)
bucket, data = torch.zeros(4), torch.randn(5, 3) + 2
optimizer = torch.optim.SGD([w, b], lr=0.1)
def loss_of(x):
    return ((x * w).sum() + b).square().sum()
"""
AUTO = """
encoder, decoder = nn.Linear(4, 2, bias=False), nn.Linear(2, 4, bias=False)
x = torch.randn(8, 4)
"""


def of(setup: str, program: str) -> str:
    """One program of a setup and what follows."""
    return setup + textwrap.dedent(program)
