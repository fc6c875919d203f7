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
    roots: list[torch.Tensor] | None = None
    """Copies of what the first backward began with, such as the loss; None before one."""

    def note_roots(self, tensors: Any) -> None:
        """Keeps what a backward begins with, of the first one."""
        if self.roots is None:
            listed = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
            self.roots = [each.detach().clone() for each in listed if isinstance(each, torch.Tensor)]

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
        taken.note_roots(outputs)
        given = grad(outputs, inputs, *args, **kwargs)
        listed = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
        for tensor, gradient in zip(listed, given, strict=False):
            taken.note(tensor, gradient, by_grad=True)
        return given

    def noting_backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
        taken.note_roots(tensors)
        leaves = _leaves(tensors)
        backward(tensors, *args, **kwargs)
        for leaf in leaves:
            taken.note(leaf, describe.gradient(leaf), by_grad=False)

    torch.autograd.grad, torch.autograd.backward = noting_grad, noting_backward
    try:
        yield taken
    finally:
        torch.autograd.grad, torch.autograd.backward = grad, backward


@contextmanager
def values_only() -> Iterator[Taken]:
    """While the block runs, nothing has a graph, so that PyTorch refuses no write, and a backward gives nothing: the
    values that a program has up to its first backward, where autograd refuses it."""
    taken = Taken()
    grad, backward = torch.autograd.grad, torch.autograd.backward

    def no_grad(outputs: Any, inputs: Any, *_args: Any, **_kwargs: Any) -> Any:
        taken.note_roots(outputs)
        raise _Enough

    def no_backward(tensors: Any, *_args: Any, **_kwargs: Any) -> None:
        taken.note_roots(tensors)
        raise _Enough

    torch.autograd.grad, torch.autograd.backward = no_grad, no_backward
    try:
        with torch.no_grad():
            yield taken
    except _Enough:
        pass
    finally:
        torch.autograd.grad, torch.autograd.backward = grad, backward


class Stopped(BaseException):
    """A run has gone as far as it is to go."""


@dataclass(slots=True)
class Passes:
    """The backwards of a run."""

    begun: int = 0
    stopped: bool = False
    """Whether another one was about to begin, and the run ended there."""


@contextmanager
def backwards_counted(most: int | None) -> Iterator[Passes]:
    """While the block runs, its backwards are counted, and the one after so many raises :class:`Stopped`.

    Args:
        most: None: as many as there are.
    """
    passes = Passes()
    grad, backward = torch.autograd.grad, torch.autograd.backward

    def counted(function: Any) -> Any:
        def counting(*args: Any, **kwargs: Any) -> Any:
            if most is not None and passes.begun >= most:
                passes.stopped = True
                raise Stopped
            passes.begun += 1
            return function(*args, **kwargs)

        return counting

    torch.autograd.grad, torch.autograd.backward = counted(grad), counted(backward)
    try:
        yield passes
    finally:
        torch.autograd.grad, torch.autograd.backward = grad, backward


class _Enough(BaseException):
    """The first backward began."""


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
