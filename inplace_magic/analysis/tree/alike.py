"""Groups of the same calls have the same tree: in a loop it is grown for the first pass and copied for the others.

What a group looks like follows from where its calls come from, which modules run them and which parameters they read,
and from nothing else of them. Two groups that agree in this, call by call, differ in nothing but the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, overload

from inplace_magic.analysis.tree.branches import Branch, BranchKind, Placed, Step, branch_of
from inplace_magic.analysis.tree.module_names import Room
from inplace_magic.analysis.vertices import CallVertex
from inplace_magic.record.places import Callsite


class _Shape(NamedTuple):
    """A branch without its calls."""

    kind: BranchKind
    step: Step
    size: int
    parts: tuple[_Shape, ...]
    site: Callsite | None


Grown = list[tuple[Room | None, Branch]]
"""Neighbours as groups, each with the module that it is."""


class Alike:
    """What was grown so far, by the sorts of the calls."""

    def __init__(self) -> None:
        self._first: dict[object, Grown] = {}
        self._shapes: dict[object, list[tuple[Room | None, _Shape]]] = {}

    def grown(
        self, placed: list[Placed], depth: int, known: bool, grow: Callable[[list[Placed], int, Alike, bool], Grown]
    ) -> Grown:
        """Return the groups of some neighbours: as :func:`grow` makes them, or copies where neighbours are alike."""
        key = depth, known, tuple([each.sort for each in placed])
        first = self._first.get(key)
        if first is None:
            found = self._first[key] = grow(placed, depth, self, known)
            return found
        shapes = self._shapes.get(key)
        if shapes is None:
            shapes = self._shapes[key] = [(room, _shape_of(branch)) for room, branch in first]
        calls = tuple([each.call for each in placed])
        copies, start = [], 0
        for room, shape in shapes:
            end = start + shape.size
            copies.append((room, _copy(shape, calls[start:end])))
            start = end
        return copies


class _Copy(Sequence[Branch]):
    """The parts of a group that is like another one, made when somebody asks: few look into each pass of a loop."""

    __slots__ = ("_calls", "_parts", "_shapes")

    def __init__(self, shapes: tuple[_Shape, ...], calls: tuple[CallVertex, ...]) -> None:
        self._shapes, self._calls = shapes, calls
        self._parts: tuple[Branch, ...] = ()

    def __len__(self) -> int:
        return len(self._shapes)

    @overload
    def __getitem__(self, index: int) -> Branch: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Branch]: ...

    def __getitem__(self, index: int | slice) -> Branch | Sequence[Branch]:
        if not self._parts:
            self._parts = tuple(self._grown())
        return self._parts[index]

    def _grown(self) -> Iterator[Branch]:
        start = 0
        for shape in self._shapes:
            yield _copy(shape, self._calls[start : start + shape.size])
            start += shape.size


def _copy(shape: _Shape, calls: tuple[CallVertex, ...]) -> Branch:
    kind, step, _size, parts, site = shape
    return branch_of(kind, step, calls, _Copy(parts, calls) if parts else (), site)


def _shape_of(one: Branch) -> _Shape:
    return _Shape(one.kind, one.step, len(one.calls), tuple(map(_shape_of, one.parts)), one.site)
