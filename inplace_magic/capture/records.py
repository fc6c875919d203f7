"""What capture keeps of a tensor, a storage, a version counter and an autograd node while the watch runs: numbers and
weak references."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:  # of a watch without PyTorch, too
    import torch

    from inplace_magic.capture.torch.layouts import Layout

_MOST_WRITES = 256
NO_WRITES: list[Any] = []


class Reference(weakref.ref[Any]):
    """A weak reference that is the record of what it stands for; nothing is equal to it but itself.

    Its callback is the bound C method ``deque.append`` of a queue of deaths, so that no Python code of ours runs when
    an object of the user's dies: Python drops whatever is raised there, an interrupt of the user's too. The queue is
    read before the next look at anything by ``id``.
    """

    __slots__ = ("key",)
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    key: int
    """``id`` of the referent."""


class CounterRecord:
    """One version counter: a tensor, its views and its ``detach()`` aliases move it together."""

    __slots__ = ("neighbour", "seen_at", "serial", "version", "writes")

    serial: int
    version: int | None
    """As last seen; None for inference tensors, which do not count."""
    seen_at: int | None
    """Number of the place where the version was last read."""
    writes: list[int | None]
    """Autograd sequence number at the time, version before, and so on, of the latest writes seen, oldest first."""
    neighbour: CounterRecord | None
    """The next counter of tensors on the same storage."""

    def note_write(self, sequence: int, before: int | None) -> None:
        """Adds a write; of many only the later half is kept."""
        if not self.writes:
            self.writes = []
        elif len(self.writes) >= 2 * _MOST_WRITES:
            del self.writes[:_MOST_WRITES]
        self.writes += (sequence, before)


@dataclass(init=False, eq=False, repr=False, slots=True)
class StorageRecord(Reference):
    """One block of memory; a weak reference to its storage object."""

    serial: int
    nbytes: int
    """When it was first seen."""
    resizes: tuple[tuple[int, int | None, int | None], ...]
    """(bytes, call, operator) of each later size."""
    foreign: bool
    follows: int | None
    device: torch.device | None
    born: int | None
    ended: int | None
    born_op: int | None
    """The operator that made it, and below how many had run when it died; as numbers in ``Log.ops``."""
    ended_op: int | None
    objects: int
    """Storage objects on this memory: several after ``from_dlpack`` or a second ``from_numpy``."""
    counter: CounterRecord | None
    """The latest counter of tensors seen on it; after ``.data`` it has neighbours."""

    def counters(self) -> Iterator[CounterRecord]:
        """Yield all of them."""
        counter = self.counter
        while counter is not None:
            yield counter
            counter = counter.neighbour

    def add_counter(self, counter: CounterRecord) -> None:
        """Adds one, unless it is there already."""
        if all([known is not counter for known in self.counters()]):
            counter.neighbour, self.counter = self.counter, counter

    @property
    def record(self) -> StorageRecord:
        """Itself."""
        return self


class AnotherStorageObject(Reference):
    """A weak reference to a second storage object on the memory of a record, or to a tensor on a
    :class:`PassingStorage`."""

    __slots__ = ("record",)
    record: StorageRecord


class PassingStorage(StorageRecord):
    """Memory of a gradient, known by its address while backward runs. PyTorch keeps the Python object of a storage as
    one more user of it for good (2.13), and autograd adds gradients up in place only in memory of a single user. So
    nobody asks for the object; tensors on the memory are :class:`AnotherStorageObject` instead, and this is a weak
    reference to nothing."""

    __slots__ = ()


class InsideRecord(Reference):
    """A tensor that only operators have met so far."""

    __slots__ = ("serial",)
    serial: int


class TensorRecord(Reference):
    """One tensor object: its serial number, and the latest observation of it; a weak reference to it."""

    __slots__ = ("counter", "latest", "layout", "layout_at", "pointer", "serial", "storage", "used_at")

    serial: int
    storage: StorageRecord | None
    counter: CounterRecord
    latest: Observation | None
    layout: Layout | None
    pointer: int | None
    """``data_ptr()``."""
    layout_at: int | None
    """The version at which `layout` and `pointer` hold."""
    used_at: int | None
    """Of a view whose ``grad_fn`` was not read: the version at which an operation took it into the graph, and so
    brought it up to date."""


Observation: TypeAlias = "tuple[TensorRecord, StorageRecord | None, int | None, Layout, int | None, bool, int | None]"
"""A tensor at one moment, not yet made readable: (record, storage, version, layout, data pointer, requires grad, serial
number of its node).

Here and below records that there are many of are plain tuples with little in them: making one costs a tenth of what a
named tuple costs, and each object that stays makes the garbage collector search the user's objects earlier and more
often than unwatched."""

RECORD: Final = 0
STORAGE: Final = 1
VERSION: Final = 2
LAYOUT: Final = 3
POINTER: Final = 4
NODE: Final = 6

SWAPPED = -2
"""Stands for the version at which a layout holds, where ``swap_tensors`` has given the tensor another inside."""

UNREAD = -1
"""Stands for the node of a tensor whose ``grad_fn`` must not be read now; told as unknown."""


KEY = "inplace_magic"
"""Of what in the metadata of an autograd node stands for it."""


class Token:
    """Lives in a node's metadata."""

    __slots__ = ("__weakref__", "owner", "record")

    owner: object
    record: NodeRecord


SavedRecord: TypeAlias = (
    "tuple[str, int | None, StorageRecord | None, CounterRecord | None, int | None, Layout | None, int | None]"
)
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
    """No path from it leads over more nodes than this; all that is not shallow (:mod:`.graph.depth`) has one number."""
    saved: tuple[Any, ...]
    """One :data:`SavedRecord` after the other."""
    changed: dict[str, list[int]] | None
    """By the name of a saved tensor, the calls before which its content was found changed, as before again, and so on
    in turn; None: none was changed."""


def saved_by(record: Any) -> Iterator[SavedRecord]:
    """What a node saved, one by one."""
    entries: Any = zip(*[iter(record.saved)] * _EACH_SAVED, strict=True)
    return iter(entries)
