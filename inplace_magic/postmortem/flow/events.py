"""What following the text leaves: operations and writes with their places, and what names stood for at the end."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from inplace_magic.postmortem.flow.values import NO_MEMORY, Env, Value


class Stop(Exception):
    """The run is over: it came to where the program failed, or to its bound."""


@dataclass(frozen=True, eq=False)
class Where:
    """A place in the text, and the call that led there."""

    filename: str
    node: ast.expr | ast.stmt
    function: str
    caller: Where | None


@dataclass(eq=False)
class Event:
    """An operation, or a write."""

    at: int
    where: Where
    nodes: frozenset[str] | None
    """Autograd nodes that it can have made, without ``Backward0``; None: any."""
    reads: frozenset[int] = NO_MEMORY
    makes: set[int] = field(default_factory=set)
    writes: frozenset[int] = NO_MEMORY
    each: bool = False
    """Whether all of several were written, as by an optimizer's step; else one of them was."""
    bumps: int | None = 1
    """By how many a write moves the version; None where that is open."""
    recorded: bool = True
    """Whether autograd can have recorded it."""
    once: bool = True
    """False in a loop or a branch."""
    sure: bool = True
    """False in a branch that may not have run."""
    hidden: bool = False
    """Whether its node is within ``CopySlices``, as that of a write of a view is."""
    known: bool = True
    """False where the effect of a function is guessed by its name."""


@dataclass(eq=False)
class Frame:
    """A function that is being followed."""

    filename: str
    function: str
    env: Env
    caller: Where | None
    returns: list[Value] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)


@dataclass(eq=False)
class Snapshot:
    """What the names stood for as the program failed."""

    names: list[tuple[Mapping[str, object], dict[str, Value]]]
    heap: dict[tuple[int, object], Value]
    at: int


@dataclass(frozen=True)
class Failing:
    """The statement that raised."""

    filename: str
    at: tuple[int, int | None]
    """Its line and, where that is known, a column of it in bytes."""
    function: str

    @property
    def line(self) -> int:
        """A line of it."""
        return self.at[0]
