"""Cells of one story."""

from __future__ import annotations

from typing import Any

from cells import Ran, run_cell
from conftest import torch_modes

FORWARD = """\
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(2, 3)
loss = model(x).sum()
model(x).sum().backward()
"""
STEP = "opt.step()"
BACKWARD = "loss.backward()"


def run(shell: Any, text: str, **settings: Any) -> Ran:
    """Runs a cell, after which no probe may be on."""
    ran = run_cell(shell, text, **settings)
    assert torch_modes() == []
    return ran
