"""Check by finite differences whether a program's gradients are the derivative of its loss.

The program runs up to its first backward, in float64: its variables are copied as such, and what it makes itself gets
that dtype by default. Then it runs again with every leaf moved a little along a random direction, and back, and the
change of the loss is held against what the gradients say of it. A leaf is moved right before the first call that makes
a graph of it: initialised it is by then, and a run without moving tells which call that is. ``h.detach()`` that was
made to require grad is a leaf as well; it is moved from where it was, so that moving what it came from does not reach
the loss through it, as no gradient does.

Not told: of a loss that is not one number, of a program that insists on another dtype, of one that is random.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.errors import CompareError
from inplace_magic.rerun.backwards import Stopped, listed
from inplace_magic.rerun.run import Runner
from inplace_magic.rerun.settings import attributes_set
from inplace_magic.rerun.state import find_state
from inplace_magic.rerun.twins import Copies

STEP = 1e-6
"""How far leaves are moved, times a standard normal direction."""
DIRECTIONS = 2
_TOLERANCE = 1e-4
"""Relative to the larger slope, and to a hundredth of the gradient's norm where both are small."""
_NO_VALUES = ("__get__", "__set__", "register_hook", "__len__", "__hash__", "size", "stride", "dim", "numel", "detach")
"""Functions that read no values."""
_MOST_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Slope:
    """The loss's slope along a random direction of its leaves."""

    by_gradient: float
    by_difference: float
    agrees: bool
    """Whether both are the same but for what finite differences are off."""


def slope_of(runner: Runner) -> Slope | None:
    """Return the slope of a program's loss, along a direction that shows any difference; None if unknown.

    Raises:
        CompareError: the program cannot be run.
        Repeated: it was about to do what cannot be done on copies.
    """
    runner.forget_old_names()
    looking = _Looking()
    first = _loss(runner, looking)
    again = _loss(runner, _Looking()) if first is not None and first.gradients and not looking.unsure else None
    if first is None or again is None or first.loss != again.loss:
        return None
    found = None
    for number in range(DIRECTIONS):
        by_gradient, norm = first.along(number)
        near, nearer = (_difference(runner, looking, number, step) for step in (STEP, STEP / 4))
        if near is None or nearer is None or not _alike(near, nearer, norm):
            return None  # a kink, or too coarse to tell
        found = Slope(by_gradient, near, _alike(by_gradient, near, norm))
        if not found.agrees:
            break
    return found


def _difference(runner: Runner, looked: _Looking, number: int, step: float) -> float | None:
    up, down = (_loss(runner, _Moving(looked, number, way)) for way in (step, -step))
    return None if up is None or down is None else (up.loss - down.loss) / (2 * step)


def _alike(one: float, other: float, norm: float) -> bool:
    return abs(one - other) <= _TOLERANCE * max(abs(one), abs(other), 0.01 * norm)


@dataclass(slots=True)
class _Loss:
    """The loss of a run's first backward."""

    loss: float
    gradients: list[torch.Tensor] = field(default_factory=list)
    """Gradients of the leaves in the order of their first reads; zeros for a leaf that the loss does not depend on."""

    def along(self, number: int) -> tuple[float, float]:
        """Return the slope along a direction by the gradients, and their norm."""
        parts = [float((grad * _direction(grad, place, number)).sum()) for place, grad in enumerate(self.gradients)]
        return sum(parts), float(torch.stack([grad.norm() for grad in self.gradients]).norm())


def _direction(like: torch.Tensor, place: int, number: int) -> torch.Tensor:
    own = torch.Generator().manual_seed(1000 * place + number)
    return torch.randn(like.shape, generator=own, dtype=torch.float64, device="cpu").to(like.device)


def _loss(runner: Runner, mode: _Looking | _Moving) -> _Loss | None:
    """Return the loss with which a run's first backward begins, in float64; None where it is no such number."""
    found: list[_Loss] = []
    try:
        with suppress(Stopped), runner.stage() as copies:
            torch.set_default_dtype(torch.float64)  # the stage sets it back
            _as_float64(copies)
            with _first_backward(mode.leaves, found), mode:
                runner.program.run(copies.roots)
    except CompareError:
        raise
    except Exception:  # in float64 a program may fail that does not otherwise
        return None
    return found[0] if found else None


class _Looking(TorchFunctionMode):
    """Notes the call at which each leaf is first read into a graph."""

    def __init__(self) -> None:
        super().__init__()
        self.leaves: list[torch.Tensor] = []
        self.reads: dict[int, list[int]] = {}
        """By the number of the call, which of the leaves among its arguments are read for the first time."""
        self.values: list[torch.Tensor | None] = []
        """Values of each leaf that is no parameter, at its first read."""
        self.unsure = False
        """Whether one was read before, where no graph was made: its values may have gone on another way. Or one has
        another dtype."""
        self._count = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        number, self._count = self._count, self._count + 1
        given = list(_leaves_in((args, kwargs)))
        result = func(*args, **(kwargs or {}))
        new = [place for place, leaf in enumerate(given) if not any(leaf is known for known in self.leaves)]
        name = getattr(func, "__name__", "")
        graphs = (describe.grad_fn(each) is not None for each in _tensors_in(result, 0))
        if new and torch.is_grad_enabled() and any(graphs):
            leaves = [given[place] for place in new]
            self.reads[number] = new
            self.leaves += leaves
            self.values += [None if isinstance(leaf, torch.nn.Parameter) else leaf.detach().clone() for leaf in leaves]
            self.unsure |= any(leaf.dtype != torch.float64 for leaf in leaves)
        elif new and not torch.is_grad_enabled() and name not in _NO_VALUES and not name.endswith("_"):
            self.unsure = True
        return result


class _Moving(TorchFunctionMode):
    """Moves each leaf, right before it is first read, along a direction."""

    def __init__(self, looked: _Looking, number: int, step: float) -> None:
        super().__init__()
        self.leaves: list[torch.Tensor] = []
        self._looked, self._number, self._step = looked, number, step
        self._count = self._moved = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        number, self._count = self._count, self._count + 1
        if number in self._looked.reads:
            given = list(_leaves_in((args, kwargs)))
            for place in self._looked.reads[number]:
                before = self._looked.values[self._moved]
                if before is not None:
                    given[place].data.copy_(before)
                given[place].data.add_(_direction(given[place], self._moved, self._number), alpha=self._step)
                self._moved += 1
        return func(*args, **(kwargs or {}))


def _leaves_in(value: Any) -> Iterator[torch.Tensor]:
    for tensor in _tensors_in(value, 0):
        if describe.requires_grad(tensor) and describe.grad_fn(tensor) is None:
            yield tensor


def _tensors_in(value: Any, depth: int) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple, dict)) and depth < _MOST_DEPTH:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _tensors_in(each, depth + 1)


def _as_float64(copies: Copies) -> None:
    """Convert the copies' floating point tensors to float64.

    Raises:
        ValueError: two of them share memory, and would not in float64.
    """
    held = [value for _place, value in copies.places]
    found = find_state((), (*held, *copies.roots), None).tensors
    tensors = [tensor for tensor in found if tensor.is_floating_point() and tensor.dtype != torch.float64]
    storages = [describe_memory.storage_address(describe.storage(tensor)) for tensor in tensors if tensor.numel()]
    if len(set(storages)) < len(storages):
        raise ValueError
    for tensor in tensors:
        tensor.data = tensor.data.double()


@contextmanager
def _first_backward(leaves: list[torch.Tensor], losses: list[_Loss]) -> Iterator[None]:
    """While the block runs, the first backward ends it, and adds its loss with the gradients of these leaves."""
    grad = torch.autograd.grad

    def begun(tensors: Any, weights: Any = None, *_args: Any, **_kwargs: Any) -> None:
        roots = listed(tensors)
        root = roots[0]
        if len(roots) > 1 or root.dtype != torch.float64 or root.numel() != 1 or weights is not None:
            raise Stopped
        found = _Loss(float(root.detach()))
        if leaves:
            given = grad(root, leaves, allow_unused=True)
            pairs = zip(leaves, given, strict=True)
            found.gradients = [torch.zeros_like(leaf) if each is None else each.detach() for leaf, each in pairs]
        losses.append(found)
        raise Stopped

    def of_grad(outputs: Any, _inputs: Any, grad_outputs: Any = None, *_args: Any, **_kwargs: Any) -> None:
        begun(outputs, grad_outputs)

    with attributes_set(torch.autograd, grad=of_grad, backward=begun):
        yield
