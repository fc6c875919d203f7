"""What the programs of exercises get, and the usual way to run one: random numbers that are the same each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Values = dict[str, Any]
"""What is compared after a run, by name."""


def numbers(*shape: int, seed: int = 0, size: float = 1.0, grad: bool = False) -> Tensor:
    """Random numbers; the generator of the notebook stays as it is."""
    made = size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    return made.requires_grad_(grad)


def filled(module: nn.Module, *, size: float = 0.5) -> Any:
    """The module with the same weights each time."""
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(numbers(*parameter.shape, seed=number, size=size))
    return module


def result_and_gradient(name: str) -> Callable[..., Values]:
    """Runs a function and backward from its sum; looks at the result and at the gradient of the input that has one."""

    def run(function: Callable[..., Any], *inputs: Any) -> Values:
        result = function(*inputs)
        result.sum().backward()
        leaf = next(each for each in inputs if isinstance(each, Tensor) and each.requires_grad)
        return {"result": result.detach(), f"{name}.grad": leaf.grad}

    return run
