"""Whether the gradients that a program takes are the derivative of the loss that it computes, by finite differences.

The program runs up to its first backward, in float64: its variables are copied as such, and what it makes itself gets
that dtype by default. Then it runs again with every leaf moved a little along a random direction, and back, and the
change of the loss is held against what the gradients say of it. A leaf is moved right before the first call that reads
it with autograd on, since only there it is known to have its values; leaves go by the order of these first reads.

Not told: of a loss that is not one number, of a program that insists on another dtype, of one that is random.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from inplace_magic.capture.torch import describe
from inplace_magic.errors import CopyError
from inplace_magic.rerun.run import Runner
from inplace_magic.rerun.state import find_state
from inplace_magic.rerun.twins import Copies

STEP = 1e-6
"""How far leaves are moved, times a standard normal direction."""
DIRECTIONS = 2
_TOLERANCE = 1e-4
"""Relative to the larger slope, and to a hundredth of the gradient's norm where both are small."""
_SETTING_UP = ("__get__", "__set__", "requires_grad_", "register_hook", "__len__", "size", "dim", "numel", "detach")
"""Functions that do not read values for a graph."""
_MOST_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Slope:
    """The loss's slope along a random direction of its leaves."""

    by_gradient: float
    by_difference: float
    agrees: bool
    """Whether both are the same but for what finite differences are off."""


def slope_of(runner: Runner) -> Slope | None:
    """The slope of a program's loss, along a direction that shows the difference where there is one. None where it
    cannot be told.

    Raises:
        CompareError: the program cannot be run.
        Repeated: it was about to do what cannot be done on copies.
    """
    first, again = _loss(runner, 0, 0.0, gradients=True), _loss(runner, 0, 0.0)
    if first is None or again is None or first.loss != again.loss or not first.leaves:
        return None
    found = None
    for number in range(DIRECTIONS):
        by_gradient, norm = first.along(number)
        ways = [_difference(runner, number, step) for step in (STEP, STEP / 4)]
        near, nearer = ways
        if near is None or nearer is None or not _alike(near, nearer, norm):
            return None  # a kink, or too coarse to tell
        found = Slope(by_gradient, near, _alike(by_gradient, near, norm))
        if not found.agrees:
            break
    return found


def _difference(runner: Runner, number: int, step: float) -> float | None:
    up, down = _loss(runner, number, step), _loss(runner, number, -step)
    return None if up is None or down is None else (up.loss - down.loss) / (2 * step)


def _alike(one: float, other: float, norm: float) -> bool:
    return abs(one - other) <= _TOLERANCE * max(abs(one), abs(other), 0.01 * norm)


@dataclass(slots=True)
class _Loss:
    """What the first backward of a run began with."""

    loss: float
    leaves: list[torch.Tensor] = field(default_factory=list)
    """The gradients of the leaves that were read, zeros where the loss does not depend on one."""

    def along(self, number: int) -> tuple[float, float]:
        """The slope along a direction by the gradients, and their norm."""
        parts = [float((grad * _direction(grad, place, number)).sum()) for place, grad in enumerate(self.leaves)]
        return sum(parts), float(torch.stack([grad.norm() for grad in self.leaves]).norm())


def _direction(like: torch.Tensor, place: int, number: int) -> torch.Tensor:
    own = torch.Generator().manual_seed(1000 * place + number)
    return torch.randn(like.shape, generator=own, dtype=torch.float64, device="cpu").to(like.device)


class _Begun(BaseException):
    """The first backward began."""

    def __init__(self, found: _Loss | None) -> None:
        super().__init__()
        self.found = found


def _loss(runner: Runner, number: int, step: float, *, gradients: bool = False) -> _Loss | None:
    """The loss with which a run's first backward begins, in float64; None where it is no such number."""
    mode = _Moving(number, step)
    try:
        with runner.stage() as copies:
            torch.set_default_dtype(torch.float64)  # the stage sets it back
            _as_float64(copies)
            with _first_backward(mode, gradients=gradients), mode:
                runner.program.run(copies.roots)
    except CopyError:
        raise
    except _Begun as begun:
        return begun.found
    except Exception:  # in float64 a program may fail that does not otherwise
        return None
    return None


class _Moving(TorchFunctionMode):
    """Moves each leaf, when it is first read, along a direction."""

    def __init__(self, number: int, step: float) -> None:
        super().__init__()
        self.leaves: list[torch.Tensor] = []
        self._seen: set[int] = set()
        self._number, self._step = number, step

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if torch.is_grad_enabled() and getattr(func, "__name__", "") not in _SETTING_UP:
            for leaf in _leaves_in((args, kwargs), 0):
                if id(leaf) not in self._seen:
                    self._seen.add(id(leaf))
                    self.leaves.append(leaf)
                    if self._step:
                        leaf.data.add_(_direction(leaf, len(self.leaves) - 1, self._number), alpha=self._step)
        return func(*args, **(kwargs or {}))


def _leaves_in(value: Any, depth: int) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        if describe.requires_grad(value) and describe.grad_fn(value) is None and value.dtype == torch.float64:
            yield value
    elif isinstance(value, (list, tuple, dict)) and depth < _MOST_DEPTH:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves_in(each, depth + 1)


def _as_float64(copies: Copies) -> None:
    """The copies' floating point tensors in float64.

    Raises:
        ValueError: two of them share memory, which they would not any more.
    """
    held = [value for _place, value in copies.places]
    tensors = [t for t in find_state((), (*held, *copies.roots), None).tensors if t.is_floating_point()]
    tensors = [tensor for tensor in tensors if tensor.dtype != torch.float64]
    storages = [describe.storage_address(describe.storage(tensor)) for tensor in tensors if tensor.numel()]
    if len(set(storages)) < len(storages):
        raise ValueError
    for tensor in tensors:
        tensor.data = tensor.data.double()


@contextmanager
def _first_backward(mode: _Moving, *, gradients: bool) -> Iterator[None]:
    grad, backward = torch.autograd.grad, torch.autograd.backward

    def begun(tensors: Any, weights: Any = None, *_args: Any, **_kwargs: Any) -> None:
        roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        root = roots[0]
        if len(roots) > 1 or root.dtype != torch.float64 or root.numel() != 1 or weights is not None:
            raise _Begun(None)
        found = _Loss(float(root.detach()))
        if gradients and mode.leaves:
            given = grad(root, mode.leaves, allow_unused=True, materialize_grads=True)
            found.leaves = [each.detach() for each in given]
        raise _Begun(found)

    def of_grad(outputs: Any, _inputs: Any, grad_outputs: Any = None, *_args: Any, **_kwargs: Any) -> None:
        begun(outputs, grad_outputs)

    torch.autograd.grad, torch.autograd.backward = of_grad, begun  # type: ignore[assignment]  # put back below
    try:
        yield
    finally:
        torch.autograd.grad, torch.autograd.backward = grad, backward
