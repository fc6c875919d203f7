"""Groups of the same calls have the same tree: in a loop it is grown for the first pass and copied for the others.

What a group looks like follows from where its calls come from, which modules run them and which parameters they read,
and from nothing else of them. Two groups that agree in this, call by call, differ in nothing but the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

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
        rooms = [room for room, _shape in shapes]
        copies = _copies([shape for _room, shape in shapes], tuple([each.call for each in placed]))
        return list(zip(rooms, copies, strict=True))


def _copies(shapes: Iterable[_Shape], calls: tuple[CallVertex, ...]) -> Iterator[Branch]:
    """Yield branches of these shapes, with some calls in their order."""
    start = 0
    for kind, step, size, parts, site in shapes:
        some = calls[start : start + size]
        yield branch_of(kind, step, some, tuple(_copies(parts, some)), site)
        start += size


def _shape_of(one: Branch) -> _Shape:
    return _Shape(one.kind, one.step, len(one.calls), tuple(map(_shape_of, one.parts)), one.site)
