"""What stands in the place of ``torch.autograd.grad`` and ``backward`` while a program runs again: it counts backwards,
ends the run at one, keeps graphs, or notes the gradients that no variable shows afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import torch

from inplace_magic.capture.torch import describe
from inplace_magic.rerun.settings import attributes_set

_MOST = 2000
"""Most stored gradients."""
_MOST_NODES = 20_000
"""Most nodes of a graph searched for leaves."""


def listed(tensors: Any) -> list[Any]:
    """Return the roots or the inputs of a backward as a list; a single one need not be in a list."""
    return [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)


@dataclass(slots=True)
class TakenGradients:
    """Gradients in order: their tensor, whether ``grad`` took them, and a copy."""

    gradients: list[tuple[torch.Tensor, bool, torch.Tensor]] = field(default_factory=list)
    roots: list[torch.Tensor] | None = None
    """Copies of the roots of the first backward, such as the loss; None before it."""

    def note_roots(self, tensors: Any) -> None:
        """Store the roots of the first backward."""
        if self.roots is None:
            self.roots = [each.detach().clone() for each in listed(tensors) if isinstance(each, torch.Tensor)]

    def note(self, of: torch.Tensor, gradient: Any, *, by_grad: bool) -> None:
        """Keeps a copy of a gradient."""
        if isinstance(gradient, torch.Tensor) and len(self.gradients) < _MOST:
            self.gradients.append((of, by_grad, gradient.detach().clone()))


@contextmanager
def gradients_noted() -> Iterator[TakenGradients]:
    """In this block, note the gradients of ``torch.autograd.grad`` and ``backward``: no variable shows the results of
    ``grad``, nor the gradients of parameters of a function that has returned."""
    taken = TakenGradients()
    grad, backward = torch.autograd.grad, torch.autograd.backward

    def noting_grad(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        taken.note_roots(outputs)
        given = grad(outputs, inputs, *args, **kwargs)
        for tensor, gradient in zip(listed(inputs), given, strict=False):
            taken.note(tensor, gradient, by_grad=True)
        return given

    def noting_backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
        taken.note_roots(tensors)
        leaves = _leaves(tensors)
        backward(tensors, *args, **kwargs)
        for leaf in leaves:
            taken.note(leaf, describe.gradient(leaf), by_grad=False)

    with attributes_set(torch.autograd, grad=noting_grad, backward=noting_backward):
        yield taken


@contextmanager
def values_only() -> Iterator[TakenGradients]:
    """In this block nothing has a graph, so PyTorch refuses no write, and the first backward ends the run: it gives the
    values up to there of a program that autograd refuses."""
    taken = TakenGradients()

    def begun(tensors: Any, *_args: Any, **_kwargs: Any) -> None:
        taken.note_roots(tensors)
        raise Stopped

    with suppress(Stopped), attributes_set(torch.autograd, grad=begun, backward=begun), torch.no_grad():
        yield taken


class Stopped(BaseException):
    """Ends a run at its planned end."""


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

    def counted(function: Any) -> Any:
        def counting(*args: Any, **kwargs: Any) -> Any:
            if most is not None and passes.begun >= most:
                passes.stopped = True
                raise Stopped
            passes.begun += 1
            return function(*args, **kwargs)

        return counting

    grad, backward = counted(torch.autograd.grad), counted(torch.autograd.backward)
    with attributes_set(torch.autograd, grad=grad, backward=backward):
        yield passes


@contextmanager
def graphs_kept() -> Iterator[None]:
    """In this block no backward frees its graph, so that a second backward can use the saved tensors."""

    def keeping(function: Any, place: int) -> Any:
        def kept(*args: Any, **kwargs: Any) -> Any:
            if len(args) > place:
                return function(*args[:place], True, *args[place + 1 :], **kwargs)
            return function(*args, **{**kwargs, "retain_graph": True})

        return kept

    grad, backward = keeping(torch.autograd.grad, 3), keeping(torch.autograd.backward, 2)
    with attributes_set(torch.autograd, grad=grad, backward=backward):
        yield


def _leaves(tensors: Any) -> list[torch.Tensor]:
    """Return the leaves that a backward from these will reach, in the order of the graph."""
    stack = [describe.grad_fn(root) for root in reversed(listed(tensors))]
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
