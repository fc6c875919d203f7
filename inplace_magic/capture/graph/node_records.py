"""What a watch keeps of an autograd node, and what in the node stands for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inplace_magic.capture.records import CounterRecord, Reference, StorageRecord
from inplace_magic.capture.torch.layouts import Layout

KEY = "inplace_magic"


class Token:
    """Lives in a node's metadata."""

    __slots__ = ("__weakref__", "owner", "record")

    owner: object
    record: NodeRecord


SavedRecord = tuple[str, int | None, StorageRecord | None, CounterRecord | None, int | None, Layout | None, int | None]
"""What a node saved, not yet made readable: (name, serial number of the tensor, storage, counter, version, layout,
digest). The layout is None when somebody's hooks packed it."""


_EACH_SAVED = 7


class NodeRecord(Reference):
    """One autograd node; a weak reference to its token."""

    __slots__ = ("call", "changed", "depth", "ended", "name", "next", "saved", "sequence", "serial", "variable")

    serial: int
    name: str
    sequence: int | None
    call: int | None
    next: tuple[int | None, ...]
    variable: int | None
    ended: int | None
    depth: int
    """No path from it leads over more nodes than this; all that is not shallow (see :mod:`.depth`) has one number."""
    saved: tuple[Any, ...]
    """One :data:`SavedRecord` after the other."""
    changed: dict[str, list[int]] | None
    """By the name of a saved tensor, the calls before which its content was found changed, as before again, and so on
    in turn; None: none was changed."""


def saved_by(record: Any) -> Iterator[SavedRecord]:
    """What a node saved, one by one."""
    entries: Any = zip(*[iter(record.saved)] * _EACH_SAVED, strict=True)
    return iter(entries)
