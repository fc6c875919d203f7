"""The outcome of a run, by name, and the comparison of two outcomes bit for bit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch

from inplace_magic.capture.torch import describe
from inplace_magic.record.outcomes import Agreement, Difference, GradientError, Group
from inplace_magic.rerun.backwards import TakenGradients
from inplace_magic.rerun.memory import PLAIN_TENSORS, Digest, digest, same_content

_PLAIN = (bool, int, float, complex, str)
_HELD = (torch.Tensor, list, tuple, dict)
"""Of the plain attributes of a module, those that can be or hold tensors."""
_MOST_DEPTH = 8
_ROUNDING = 1000
"""Times the machine's epsilon, of the norm, up to which two gradients are taken for one that was rounded otherwise."""
_ORDER: tuple[Group, ...] = ("output", "gradient", "state")


@dataclass(slots=True)
class Outcome:
    """Values by group and name; tensors are copied unless they are unchanged since the start.

    Args:
        brief: keep only a digest of tensors other than gradients, which is enough to compare two outcomes.
        began: by the id of a tensor of this run, what it is a copy of, which nobody writes while outcomes are held.
    """

    values: dict[tuple[Group, str], Any] = field(default_factory=dict)
    gradients_of: str = ""
    roots: list[torch.Tensor] | None = None
    """Roots of the first backward, if noted."""
    brief: bool = False
    began: Mapping[int, torch.Tensor] = field(default_factory=dict)
    _leaves: dict[str, torch.Tensor] = field(default_factory=dict)
    _seen: dict[int, Any] = field(default_factory=dict)

    def look(self, value: Any) -> None:
        """Notes the leaves that can be reached from `value`, and none of their values."""
        for path, found in _leaves("", value, 0, self._seen):
            if isinstance(found, torch.Tensor) and describe.requires_grad(found) and describe.grad_fn(found) is None:
                self._leaves.setdefault(f"{len(self._leaves)}{path}", found)

    def close(self) -> None:
        """Lets go of the run's own objects; the values stay."""
        self._leaves, self._seen, self.began = {}, {}, {}

    def keep_only(self, group: Group | None) -> None:
        """Lets go of the values that are not of a group."""
        self.values = {key: value for key, value in self.values.items() if key[0] == group}

    def add(self, group: Group, name: str, value: Any) -> None:
        """Notes every tensor, array and number that can be reached from `value`."""
        for path, found in _leaves(name, value, 0, self._seen):
            if isinstance(found, torch.Tensor) and describe.requires_grad(found) and describe.grad_fn(found) is None:
                self._leaves.setdefault(path, found)
            if (group, path) not in self.values:
                self.values[group, path] = self._snapshot(found, brief=self.brief and group != "gradient")

    def add_gradients(self) -> None:
        """Note the gradients of the leaves among the noted values."""
        for path, leaf in self._leaves.items():
            grad = describe.gradient(leaf)
            if grad is not None:
                self.values.setdefault(("gradient", f"{path}.grad"), self._snapshot(grad))

    def add_taken(self, taken: TakenGradients) -> None:
        """Notes the gradients that a run took where no variable shows them: those of ``torch.autograd.grad``, as
        ``grad(model.weight)``, and those of leaves that nothing leads to, as ``(3×4).grad``."""
        self.roots = taken.roots
        names = {id(leaf): path for path, leaf in self._leaves.items()}
        counts: dict[str, int] = {}
        for tensor, by_grad, gradient in taken.gradients:
            name = names.get(id(tensor))
            if name is not None and not by_grad:
                continue  # its `.grad` is noted at the end of the run
            path = name or f"({'×'.join(map(str, tensor.shape)) or 'scalar'})"
            key = f"grad({path})" if by_grad else f"{path}.grad"
            counts[key] = counts.get(key, 0) + 1
            number = f"[{counts[key]}]" if counts[key] > 1 else ""
            self.values.setdefault(("gradient", f"{key}{number}"), _Kept(gradient, None))

    def gradient_marks(self) -> set[tuple[int, int, int | None]]:
        """Return the leaves' present gradients, to find out later if a run made some."""
        grads = [(leaf, describe.gradient(leaf)) for leaf in self._leaves.values()]
        return {(id(leaf), id(grad), describe.version(grad)) for leaf, grad in grads if grad is not None}

    def _snapshot(self, value: Any, *, brief: bool = False) -> Any:
        """What is held of a value: of a tensor that is as it began, what it began as."""
        if not isinstance(value, torch.Tensor):
            return value
        if brief and type(value) in PLAIN_TENSORS and value.layout == torch.strided:
            return Digest(value.dtype, value.shape, value.device, digest(value))
        first = self.began.get(id(value))
        same = first is not None and same_content(first, value)
        return _Kept(first.detach() if same and first is not None else value.detach().clone(), describe.version(value))


@dataclass(frozen=True, slots=True)
class _Kept:
    tensor: torch.Tensor
    version: int | None


def backward_of(value: Any) -> bool:
    """Runs backward from the tensors of a result, with fixed weights between 0.5 and 1.5; False where none has a
    graph. (All ones would hide differences: through a normalisation, a plain sum has no gradient.)"""
    found = [
        leaf
        for _, leaf in _leaves("", value, 0, {})
        if isinstance(leaf, torch.Tensor) and describe.grad_fn(leaf) is not None
    ]
    if not found:
        return False
    weights = [
        torch.linspace(0.5, 1.5, each.numel(), dtype=torch.float64, device="cpu").reshape(each.shape).to(each)
        for each in found
    ]
    torch.autograd.backward(found, weights)
    return True


def compare(first: Outcome, second: Outcome) -> Agreement:
    """Return whether two runs left the same, bit for bit.

    Returns:
        Differences with outputs first, then gradients, then state, each in the order of the code.
    """
    common = [key for key in first.values if key in second.values]
    ordered = sorted(common, key=lambda key: _ORDER.index(key[0]))
    found = (_difference(*key, first.values[key], second.values[key]) for key in ordered)
    return Agreement(
        compared=tuple((group, sum(key[0] == group for key in common)) for group in _ORDER),
        differences=tuple(each for each in found if each is not None),
        only=(_only(first, second), _only(second, first)),
        gradients_of=first.gradients_of if first.gradients_of == second.gradients_of else "",
    )


def _only(one: Outcome, other: Outcome) -> tuple[str, ...]:
    return tuple(name for group, name in one.values if (group, name) not in other.values)


def _leaves(path: str, value: Any, depth: int, seen: dict[int, Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (*_PLAIN, torch.Tensor)):
        yield path, value
        return
    if id(value) in seen or depth > _MOST_DEPTH:
        return
    seen[id(value)] = value  # held, so that the id stands for it
    if type(value).__module__ == "numpy" and hasattr(value, "tobytes"):
        yield path, torch.as_tensor(value.copy()) if value.dtype.kind in "biufc" else value.tobytes()
    else:
        for step, item in _items(value):
            yield from _leaves(f"{path}{step}" if path else step.lstrip("."), item, depth + 1, seen)


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, torch.nn.Module):
        yield from ((f".{name}", each) for name, each in value.named_parameters())
        yield from ((f".{name}", each) for name, each in value.named_buffers())
        for path, module in value.named_modules():
            whole, plain = f".{path}" if path else "", vars(module).items()
            yield from ((f"{whole}.{name}", each) for name, each in plain if name[0] != "_" and isinstance(each, _HELD))
    elif isinstance(value, torch.optim.Optimizer):
        for number, (_, state) in enumerate(value.state.items()):
            yield f".state[{number}]", state
    elif isinstance(value, Mapping):
        yield from ((f"[{key!r}]", each) for key, each in islice(value.items(), 10_000))
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{number}]", each) for number, each in enumerate(value[:10_000]))
    elif type(value).__module__ == "__main__" and hasattr(value, "__dict__"):
        yield from ((f".{name}", each) for name, each in vars(value).items())


def gradient_errors(written: Outcome, meant: Outcome) -> list[GradientError]:
    """Return the gradients of a run that are further from those of another than rounding takes them, the worst
    first."""
    found = []
    for key, right in meant.values.items():
        wrong = written.values.get(key)
        if key[0] == "gradient" and isinstance(right, _Kept) and isinstance(wrong, _Kept):
            error = _gradient_error(key[1], wrong.tensor, right.tensor)
            if error is not None:
                found.append(error)
    return sorted(found, key=lambda error: -(error.relative if error.relative is not None else float("inf")))


def _gradient_error(name: str, wrong: torch.Tensor, right: torch.Tensor) -> GradientError | None:
    same = wrong.shape == right.shape and wrong.dtype == right.dtype and wrong.numel() > 0
    if not same or right.is_complex() or {wrong.layout, right.layout} != {torch.strided}:
        return None
    if not bool(torch.isfinite(right).all()):
        return None  # what overflows was a last bit somewhere before
    rounding = _ROUNDING * torch.finfo(right.dtype).eps
    one, other = wrong.double(), right.double()
    off = torch.where(torch.isnan(one) & torch.isnan(other) | (one == other), 0.0, (one - other).abs())
    largest, size = int(off.argmax()), float(other.norm())
    distance = float(off.norm())
    if distance <= rounding * max(size, float(one.norm())):
        return None
    element = _element(largest, right.shape)
    relative = distance / size if size and math.isfinite(distance / size) else None
    return GradientError(name, relative, element, (float(one.flatten()[largest]), float(other.flatten()[largest])))


def _element(position: int, shape: torch.Size) -> tuple[int, ...]:
    """Return the index of the element at a position in row-major order. (``torch.unravel_index`` imports sympy, which
    takes a second and adds a filter to the user's ``warnings``.)"""
    index: list[int] = []
    for size in reversed(shape):
        position, place = divmod(position, size)
        index.insert(0, place)
    return tuple(index)


def same_bits(one: list[torch.Tensor] | None, other: list[torch.Tensor] | None) -> bool:
    """True if two lists of tensors hold the same bits; not so where one of them is unknown."""
    if one is None or other is None or len(one) != len(other):
        return False
    return all(_tensors("output", "", _Kept(a, None), _Kept(b, None)) is None for a, b in zip(one, other, strict=True))


def is_rounding(first: Outcome, second: Outcome, difference: Difference) -> bool:
    """True if a difference between two runs is one of rounding."""
    key = difference.group, difference.name
    one, other = first.values[key], second.values[key]
    if not isinstance(one, _Kept) or not isinstance(other, _Kept) or not one.tensor.is_floating_point():
        return False
    finite = bool(torch.isfinite(one.tensor).all()) and bool(torch.isfinite(other.tensor).all())
    return finite and difference.element is not None and _gradient_error("", one.tensor, other.tensor) is None


def _difference(group: Group, name: str, one: Any, other: Any) -> Difference | None:
    if isinstance(one, _Kept) and isinstance(other, _Kept):
        return _tensors(group, name, one, other)
    if type(one) is type(other) and (one == other or (one != one and other != other)):
        return None
    return Difference(group, name, None, (_shown(one), _shown(other)))


def _tensors(group: Group, name: str, one: _Kept, other: _Kept) -> Difference | None:
    versions = one.version, other.version
    layouts = [(each.tensor.dtype, each.tensor.shape, each.tensor.device) for each in (one, other)]
    if layouts[0] != layouts[1]:
        return Difference(group, name, None, (_shown(one), _shown(other)), versions=versions)
    if not one.tensor.numel():
        return None
    flat = [each.tensor.to_dense() if each.tensor.layout != torch.strided else each.tensor for each in (one, other)]
    flat = [each.resolve_conj().resolve_neg().contiguous().reshape(-1) for each in flat]
    unlike = (flat[0].view(torch.uint8) != flat[1].view(torch.uint8)).view(flat[0].numel(), -1).any(1)
    count = int(unlike.sum())
    if not count:
        return None
    first = int(unlike.nonzero()[0])
    element = _element(first, one.tensor.shape)
    values = _number(flat[0][first]), _number(flat[1][first])
    return Difference(group, name, element, values, count, flat[0].numel(), versions)


def _number(element: torch.Tensor) -> str:
    """Return the number with enough digits to distinguish it from its neighbours."""
    short = element.dtype in (torch.float32, torch.float16, torch.bfloat16)
    return f"{element.item():.9g}" if short else repr(element.item())


def _shown(value: Any) -> str:
    if isinstance(value, (_Kept, Digest)):
        of = value.tensor if isinstance(value, _Kept) else value
        return f"{str(of.dtype).removeprefix('torch.')}{list(of.shape)} on {of.device}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
