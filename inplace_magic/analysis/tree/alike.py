"""Groups of the same calls have the same tree: in a loop it is grown for the first pass and copied for the others.

What a group looks like follows from where its calls come from, which modules run them and which parameters they read,
and from nothing else of them. Two groups that agree in this, call by call, differ in nothing but the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from inplace_magic.analysis.tree.branches import Branch, Placed, branch_of
from inplace_magic.analysis.tree.module_names import Room
from inplace_magic.analysis.vertices import CallVertex

Grown = list[tuple[Room | None, Branch]]
"""Neighbours as groups, each with the module that it is."""


class Alike:
    """What was grown so far, by the sorts of the calls."""

    def __init__(self) -> None:
        self._first: dict[object, Grown] = {}

    def grown(
        self, placed: list[Placed], depth: int, known: bool, grow: Callable[[list[Placed], int, Alike, bool], Grown]
    ) -> Grown:
        """Return the groups of some neighbours: as :func:`grow` makes them, or copies where neighbours are alike."""
        key = depth, known, tuple([each.sort for each in placed])
        first = self._first.get(key)
        if first is None:
            found = self._first[key] = grow(placed, depth, self, known)
            return found
        copies = _copies([branch for _room, branch in first], tuple([each.call for each in placed]))
        return [(room, copy) for (room, _branch), copy in zip(first, copies, strict=True)]


def _copies(branches: Iterable[Branch], calls: tuple[CallVertex, ...]) -> Iterator[Branch]:
    """Yield branches of the same shapes, with some calls in their order."""
    start = 0
    for one in branches:
        some = calls[start : start + len(one.calls)]
        yield branch_of(one.kind, one.step, some, tuple(_copies(one.parts, some)), one.site)
        start += len(one.calls)
