"""What the tree of calls is made of: steps on the way to a call, and groups of calls that follow each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal, NamedTuple

from inplace_magic.analysis.tree.module_names import Room, steps_of
from inplace_magic.analysis.vertices import CallVertex
from inplace_magic.record.filled import filled
from inplace_magic.record.places import Callsite

BranchKind = Literal["call", "line", "run", "loop", "pass"]


class Step(NamedTuple):
    """One level on the way from the watched block to a call."""

    kind: BranchKind
    name: str
    line: int = 0
    where: tuple[int | None, str | None] = (None, None)
    column: tuple[int | None, int | None] = (None, None)
    path: str = ""
    """Of a module whose path is known; of several, that of the list that they are entries of."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A call, or a group of calls that follow each other."""

    kind: BranchKind
    step: Step
    calls: tuple[CallVertex, ...]
    parts: Sequence[Branch] = ()
    """What it consists of; of a loop: its passes."""
    site: Callsite | None = None
    """The line, or the line that runs the function or module."""

    @property
    def key(self) -> str:
        """A name that is the same in every look at the same trace."""
        return f"F{self.calls[0].call}-{self.calls[-1].call}"


branch_of = filled(Branch)
"""Makes one."""


class Placed(NamedTuple):
    """A call with the way to it."""

    call: CallVertex
    way: list[tuple[Step, Callsite | None]]
    sort: int
    """The same of calls that come from the same place and have the same modules and parameters."""
    rooms: tuple[Room | None, ...] = ()
    """For each step of the way: the module that it is, as far as the call itself tells."""


def module_path(branch: Branch) -> str:
    """Return the module that it is; else the common beginning of the names of the parameters that it reads."""
    if branch.step.path:
        return branch.step.path
    names = [steps_of(name)[:-1] for call in branch.calls for name in call.parameters if "." in name]
    common = takewhile(lambda parts: len(set(parts)) == 1, zip(*names, strict=False))
    return "".join(parts[0] for parts in common).removeprefix(".")


def passes_of(parts: Sequence[Branch]) -> int:
    """How often the parts of a loop ran; a pass that is one call may stand for several."""
    return sum([part.calls[0].passes if len(part.calls) == 1 else 1 for part in parts])


def are_layers(branch: Branch) -> bool:
    """Passes of one list of modules, such as the blocks of an encoder, and not of the same layer again."""
    of_modules = branch.kind == "loop" and bool(branch.step.path)
    return of_modules and module_path(branch.parts[0]) != module_path(branch.parts[-1])


Grown = list[tuple[Room | None, Branch]]
"""Neighbours as groups, each with the module that it is."""


class Alike:
    """What was grown so far, by the sorts of the calls.

    What a group looks like follows from where its calls come from, which modules run them and which parameters they
    read. Two groups that agree in this, call by call, differ in nothing but the calls: in a loop the tree is grown for
    the first pass and copied for the others.
    """

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
