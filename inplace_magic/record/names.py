"""How the program's text and its names reach tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from inplace_magic.record.places import Callsite, InFunction

How = Literal["assigned", "stored", "returned", "seen"]
"""``h = f(x)``; ``kept.append(f(x))`` and ``kept = [f(x) for …]``; ``return f(x)``; anything else, as ``h = x``, or
the parameters of a function: the name was seen to hold the tensor."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A name, attribute, slot, container or return value that holds a tensor from a call on."""

    tensor: int
    call: int
    """Index of the call whose result it is, or of the last one before the name was seen to hold it."""
    target: str
    """``h``, ``self.memory``, ``kept["pre"]``; ``kept[]`` for an entry that has no plain key; ``return``."""
    how: How
    place: Callsite
    """The expression, with its function and the places that led to this run of it; of a name that was seen, where its
    function stood then."""


@dataclass(frozen=True, slots=True)
class AliasStatement(InFunction):
    """A statement that gives an object a second name: ``labels = ids``, ``best = model.state_dict()``,
    ``skips.append(x)``."""

    function: str
    cell: int | None
    file: str | None
    line: int
    target: str
    source: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class TensorName:
    """A name by which the user's namespace reaches a tensor at the end of the watch, e.g. ``D[2].weight``."""

    tensor: int
    name: str


@dataclass(frozen=True, slots=True)
class LocalName(InFunction):
    """A name by which a function of the user's reached a tensor when a call was last made from a new place in it."""

    tensor: int
    name: str
    function: str
    cell: int | None
    file: str | None


@dataclass(frozen=True, slots=True)
class MethodOf:
    """A call that writes, and the object whose method the line is, by a serial number of its own."""

    call: int
    object: int


@dataclass(frozen=True, slots=True)
class Holding:
    """An object, a dict or a list that held a tensor when a call wrote it, or read it after that."""

    call: int
    tensor: int
    level: int
    """How many of the user's functions stand between the one that has the name and the call."""
    path: str
    """From a name of that function: ``node.tensor``, ``self.frames["warmth"]``."""
    object: int
    """The one that holds it, by a serial number of its own."""
    kind: str
    """Name of its class."""
    is_sure: bool = False
    """Whether no other object can have the number: not of a dict or list, which tells nobody that it died."""


@dataclass(frozen=True, slots=True)
class KeptByHook:
    """A tensor written in place while it stood in a container of a forward hook. The hook's code has a name for that
    container: ``feats["conv"]``, ``self.seen[0]``, ``keeper.last``."""

    write: int
    """Index of the call that wrote it."""
    tensor: int
    """What is kept: the written tensor, or another one on its memory, as of ``detach()``."""
    layer: str
    """Class of the layer that has the hook."""
    name: str
    """The variable, or the attribute, by which the container is reached; or that is the tensor."""
    key: str | None = None
    """The entry of the container; None where there is none, or it is neither text nor a number."""
    others: bool = False
    """Whether a hook of another layer can put the tensor there once more, after the write."""


@dataclass(frozen=True, slots=True)
class InplaceModule:
    """A module whose ``inplace`` flag is on at the end of the watch."""

    path: str
    """From the user's namespace, e.g. ``D.main[2]``."""
    cls: str
    defined_in: str
    """Name of the class that defines its ``forward``, as in ``CallEvent.modules``."""
    made: Callsite | None = None
    """The expression that makes it, in the ``__init__`` of the module that owns it; None where that is not plain."""


@dataclass(frozen=True, slots=True)
class ModuleName:
    """A module around a tensor of :class:`TensorName`, at the end of the watch."""

    path: str
    """From the user's namespace, e.g. ``D.main``."""
    cls: str
    defined_in: str = ""
    """Name of the class that defines its ``forward``, as in ``CallEvent.modules``; empty where it has none, such as
    ``ModuleList``."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a file or cell of the user's whose code made calls."""

    cell: int | None
    file: str | None
    lines: tuple[str, ...]
