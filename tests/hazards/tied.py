"""Setups of programs whose gradients are one memory."""

from __future__ import annotations

import textwrap

BUCKET = """
w, b = torch.ones(3, requires_grad=True), torch.ones(1, requires_grad=True)
bucket, data = torch.zeros(4), torch.randn(5, 3) + 2
optimizer = torch.optim.SGD([w, b], lr=0.1)
def loss_of(x):
    return ((x * w).sum() + b).square().sum()
"""


def of(setup: str, program: str) -> str:
    """One program of a setup and what follows."""
    return setup + textwrap.dedent(program)
