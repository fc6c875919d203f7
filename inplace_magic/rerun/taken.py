"""The gradients that a run takes where no variable shows them afterwards: those of ``torch.autograd.grad``, and of the
parameters of a function that has returned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from inplace_magic.capture.torch import describe

_MOST = 2000
"""Gradients that are kept."""
_MOST_NODES = 20_000
"""Nodes of a graph in which leaves are looked for."""


@dataclass(slots=True)
class Taken:
    """Gradients in the order in which they were taken: of which tensor, whether by ``grad``, and a copy."""

    gradients: list[tuple[torch.Tensor, bool, torch.Tensor]] = field(default_factory=list)

    def note(self, of: torch.Tensor, gradient: Any, *, by_grad: bool) -> None:
        """Keeps a copy of a gradient."""
        if isinstance(gradient, torch.Tensor) and len(self.gradients) < _MOST:
            self.gradients.append((of, by_grad, gradient.detach().clone()))


@contextmanager
def gradients_noted() -> Iterator[Taken]:
    """While the block runs, ``torch.autograd.grad`` and ``backward`` note what they give."""
    taken = Taken()
    grad, backward = torch.autograd.grad, torch.autograd.backward

    def noting_grad(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        given = grad(outputs, inputs, *args, **kwargs)
        listed = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
        for tensor, gradient in zip(listed, given, strict=False):
            taken.note(tensor, gradient, by_grad=True)
        return given

    def noting_backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
        leaves = _leaves(tensors)
        backward(tensors, *args, **kwargs)
        for leaf in leaves:
            taken.note(leaf, describe.gradient(leaf), by_grad=False)

    torch.autograd.grad, torch.autograd.backward = noting_grad, noting_backward
    try:
        yield taken
    finally:
        torch.autograd.grad, torch.autograd.backward = grad, backward


def _leaves(tensors: Any) -> list[torch.Tensor]:
    """The leaves that a backward from these will reach, in the order of the graph."""
    roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
    stack = [describe.grad_fn(root) for root in reversed(roots)]
    seen: set[Any] = set()
    found: list[torch.Tensor] = []
    while stack and len(seen) < _MOST_NODES:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, torch.Tensor):
            found.append(leaf)
        stack.extend(edge[0] for edge in reversed(node.next_functions))
    return found
