"""What the run through a text is made of: what an expression can stand for, and the operations and writes that are
left, with their places."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

NO_MEMORY: frozenset[int] = frozenset()


class Value:
    """Anything that an expression can stand for."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Tensors(Value):
    """A tensor, or what may be one: a result of a function that nobody knows."""

    memories: frozenset[int]
    """One number where it is certain; several where branches or views leave it open."""
    through: str = ""
    """``view`` of that memory; ``detached``: autograd records no write; ``data``: no version counts it."""
    several: bool = False
    """A function gave several results at once, each on memory of its own."""


@dataclass(frozen=True, slots=True)
class Constant(Value):
    """A number, a text, None; `known` False: something of that kind, of which the value does not matter."""

    value: object = None
    known: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Live(Value):
    """An object that exists still."""

    thing: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Live) and other.thing is self.thing  # and not what the user's class says

    def __hash__(self) -> int:
        return id(self.thing)


@dataclass(eq=False, slots=True)
class Items(Value):
    """A list, tuple or dict."""

    entries: list[Value]
    keys: list[object] | None = None
    """Of a dict, or the field names of a named tuple."""


@dataclass(eq=False, slots=True)
class Instance(Value):
    """An object that the text made, and that no name leads to any more."""

    kind: Value
    attributes: dict[str, Value] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Env:
    """Names of a function, a class or a module."""

    parent: Env | None = None
    names: dict[str, Value] = field(default_factory=dict)
    live: Mapping[str, object] | None = None
    """What they stand for in the end, where that is still known."""
    outer: frozenset[str] = frozenset()
    """Names that the function declares to be somebody else's."""


@dataclass(frozen=True, slots=True)
class Function(Value):
    """A function of the user's."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    filename: str
    name: str
    env: Env
    defaults: Mapping[str, Value]
    receiver: Value | None = None
    """What ``self`` is."""
    recorded: bool = True
    """False under ``@torch.no_grad()``."""

    def bound(self, receiver: Value | None) -> Function:
        """Return the method of an object."""
        return replace(self, receiver=receiver)


@dataclass(frozen=True, slots=True)
class Class(Value):
    """A class of which only the text is left."""

    node: ast.ClassDef
    filename: str
    env: Env


@dataclass(frozen=True, slots=True)
class Method(Value):
    """``x.mul_`` or ``torch.sigmoid``: the name of something that can be called, on a value; None: no value."""

    base: Value | None
    name: str


@dataclass(frozen=True, slots=True)
class Partial(Value):
    """``functools.partial(f, …)``."""

    function: Value
    given: tuple[Value, ...]
    named: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Stepping(Value):
    """An optimizer that the text made, and the memory that it steps."""

    memories: frozenset[int]


@dataclass(frozen=True, slots=True)
class Choice(Value):
    """One of several, as branches leave it."""

    parts: tuple[Value, ...]


UNKNOWN = Constant(None, known=False)
NOTHING = Constant(None)


def parts(value: Value) -> tuple[Value, ...]:
    """What it can be."""
    return value.parts if isinstance(value, Choice) else (value,)


def either(*values: Value) -> Value:
    """Return one value that can be each of several."""
    found: list[Value] = []
    tensors: list[Tensors] = []
    for value in values:
        for part in parts(value):
            if isinstance(part, Tensors):
                tensors.append(part)
            elif all(part is not known and part != known for known in found):
                found.append(part)
    if tensors:
        through = tensors[0].through if len({each.through for each in tensors}) == 1 else "view"
        memories = frozenset().union(*(each.memories for each in tensors))
        found.insert(0, Tensors(memories, through, any(each.several for each in tensors)))
    return found[0] if len(found) == 1 else Choice(tuple(found[:8]))


def tensors_in(value: Value, depth: int = 3) -> Iterator[Tensors]:
    """Yield the tensors that a value is, or holds."""
    for part in parts(value):
        if isinstance(part, Tensors):
            yield part
        elif isinstance(part, Items) and depth:
            for entry in part.entries[:1000]:
                yield from tensors_in(entry, depth - 1)


def memories_in(*values: Value) -> frozenset[int]:
    """Return the memory of all tensors in some values."""
    found = [each.memories for value in values for each in tensors_in(value)]
    return frozenset().union(*found) if found else NO_MEMORY


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
    line: int
    column: int | None
    """In bytes, where that is known."""
    function: str
