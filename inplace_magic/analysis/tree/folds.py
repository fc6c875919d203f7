"""A graph of which parts are folded: the boxes that stand for several calls, and the frames of what is drawn open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.vertices import TensorVertex
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Several calls that belong together."""

    key: str
    """Stable for a trace, e.g. ``F18-23``: from the first call to the last."""
    name: str
    """The function or the class of the modules that it ran; empty for a line of code."""
    path: str = ""
    """Where the parameters lie that only it reads, e.g. ``model.layer1``."""
    passes: int = 1
    """How often the same code ran."""
    site: Callsite | None = None
    lines: tuple[int, int] | None = None
    """First and last line, where all of it lies in one function."""
    partial: bool = False
    """Further calls ran among these that are missing, so each count is the least that it can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold(Group):
    """Calls, and the tensors that they made, drawn as one box."""

    more: bool = False
    """Passes of a loop of which another one is drawn."""
    layers: bool = False
    """The passes are layers of one list, such as the blocks of an encoder, and not the same layer again."""
    calls: tuple[int, ...] = ()
    ran: int = 0
    """How many calls these stand for."""
    tensors: tuple[str, ...] = ()
    """Keys of the versions inside."""
    results: tuple[TensorVertex, ...] = ()
    """The versions inside that something outside uses, or nothing does."""
    mutated: tuple[TensorVertex, ...] = ()
    """The versions inside that a write into an existing tensor made."""
    initialised: bool = False
    """A new module's tensors and what filled them."""
    loose: bool = False
    """Of an overview: operations between two modules; the name is theirs."""

    @property
    def writes(self) -> int:
        """How many writes into existing tensors these are: each call without a row is one."""
        return len(self.mutated) + self.ran - len(self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame(Group):
    """A group that is drawn open: its name stands around its parts."""

    shown: int
    """How many of its passes are drawn as a box or frame of their own."""
    members: tuple[str, ...]
    """Keys of the vertices, folds and frames directly inside."""


@dataclass(frozen=True, slots=True)
class FoldedGraph:
    """A graph of which parts are folded; arrows lead to the folds instead of what is inside."""

    graph: AutogradGraph
    folds: tuple[Fold, ...] = ()
    frames: tuple[Frame, ...] = ()
    whole: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Of an overview: path and class of each call that is a module, by its key."""

    def __len__(self) -> int:
        return len(self.graph) + len(self.folds)


Hole = tuple[int, int]
"""The indexes of the calls before and after it."""


def holes_of(calls: Sequence[CallEvent]) -> tuple[Hole, ...]:
    """Where further calls ran than these, in their order."""
    return tuple([(one.index, next_.index) for one, next_ in pairwise(calls) if next_.index > one.index + 1])


def has_hole(holes: Sequence[Hole], first: int, last: int, *, around: bool = False) -> bool:
    """True if calls are missing between the two calls of these indexes; `around`: or right before and after them, as
    for the passes of a loop."""
    return any(first <= before < last or (around and (after == first or before == last)) for before, after in holes)
