"""Live tensors, storages and version counters -> serial numbers, behind weak references.

``(id, data_ptr, _version)`` is no key: the allocator reuses addresses within microseconds. A serial number is given
when an object is first seen and forgotten when the object dies, so two tensors never share one. Nothing here keeps
anything alive.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from inplace_magic.capture import describe
from inplace_magic.capture.records import CounterRecord, StorageRecord, TensorRecord
from inplace_magic.capture.witness import SharedMemory


class Reference(weakref.ref[Any]):
    """A weak reference that knows its place in a table; cheaper, and less work for the garbage collector, than a
    closure."""

    __slots__ = ("key", "table")
    key: int
    table: Any


def forget_entry(reference: Reference) -> None:
    """Called when the referent dies."""
    reference.table.pop(reference.key, None)


class IdentityMap:
    """Gives serial numbers.

    Args:
        clock: how many calls have begun; noted when a storage dies.
        check_values: look at the content of memory shared with code outside torch, however large.
    """

    def __init__(self, clock: Callable[[], int], check_values: bool = False) -> None:
        self._clock = clock
        self.shared = SharedMemory(check_values)
        self.tensors: dict[int, TensorRecord] = {}
        """By ``id``, of live tensors only: an entry goes when its tensor dies."""
        self._inside: dict[int, tuple[int, Any]] = {}
        """(serial, weak reference) by ``id``, of live tensors that only operators have met so far."""
        self._more_references: list[Reference] = []
        self._live_storages: dict[int, StorageRecord] = {}
        self.storages: list[StorageRecord] = []
        self._serial = 0
        self._storage_serial = 0
        self._counters = 0

    def register(
        self, tensor: torch.Tensor, *, born: int | None = None, aliases: TensorRecord | None = None
    ) -> TensorRecord:
        """The record of a tensor; a new one when it was never seen.

        Args:
            tensor: the live tensor.
            born: index of the call that made it, None when it existed before.
            aliases: a record whose version counter it shares, where the caller knows that.
        """
        key = id(tensor)
        record = self.tensors.get(key)
        if record is not None:
            return record
        storage = self.storage_of(tensor, born)
        counter = self._counter(tensor, storage, aliases)
        inside = self._inside.pop(key, None)
        if inside is None:
            self._serial += 1
        record = TensorRecord(self._serial if inside is None else inside[0], storage, counter)
        record.ref = reference = Reference(tensor, forget_entry)
        reference.table, reference.key = self.tensors, key
        self.tensors[key] = record
        return record

    def serial_inside(self, tensor: torch.Tensor, born: int | None) -> int:
        """The serial number of a tensor that an operator reads, writes or gives.

        Operators run below autograd, where a view or ``detach()`` is not yet tied to the version counter that it will
        share. So such a tensor gets no counter here, and its record when the call that ran the operator returns it.

        Args:
            tensor: the live tensor.
            born: index of the call that made it, None when it may have existed before.
        """
        key = id(tensor)
        record = self.tensors.get(key)
        if record is not None:
            return record.serial
        known = self._inside.get(key)
        if known is not None:
            return known[0]
        self.storage_of(tensor, born)
        self._serial += 1
        reference = Reference(tensor, forget_entry)
        reference.table, reference.key = self._inside, key
        self._inside[key] = (self._serial, reference)
        return self._serial

    def rebase(self, tensor: torch.Tensor, record: TensorRecord, born: int | None) -> None:
        """Looks the storage up again, after ``set_`` or ``t.data = …`` gave the tensor another one."""
        storage = self.storage_of(tensor, born)
        if storage is not record.storage:
            record.storage, record.latest = storage, None
        if record.storage is not None and record.counter not in record.storage.counters:
            record.storage.counters.append(record.counter)

    def counter_of(self, tensor: torch.Tensor, storage: StorageRecord | None) -> CounterRecord | None:
        """The version counter of a tensor that needs no record of its own, such as one that a node saved; None when
        more than one is possible."""
        base = describe.base(tensor)
        if base is not None:
            return self.register(base).counter
        if storage is None:
            return None
        version = describe.version(tensor)
        fitting = [counter for counter in storage.counters if counter.version == version]
        return fitting[0] if len(fitting) == 1 else None

    def live(self) -> list[tuple[torch.Tensor, TensorRecord]]:
        """The registered tensors that are alive now; for the end of the watch."""
        found = []
        for record in list(self.tensors.values()):
            tensor = record.ref()
            if tensor is not None:
                found.append((tensor, record))
        return found

    def storage_of(self, tensor: torch.Tensor, born: int | None = None) -> StorageRecord | None:
        """The storage of a tensor, which may have no record of its own."""
        untyped = describe.storage(tensor)
        if untyped is None:
            return None
        key = id(untyped)
        record = self._live_storages.get(key)
        if record is not None:
            return record
        foreign = not describe.resizable(untyped)
        twin = self._same_memory(untyped) if foreign else None
        if twin is not None:
            self._forget_at_death(untyped, twin)
            return twin
        self._storage_serial += 1
        record = StorageRecord(self._storage_serial, describe.storage_size(untyped), untyped.device, born)
        record.ref = self._forget_at_death(untyped, record)
        self.storages.append(record)
        if foreign:
            self.shared.add(record)
        return record

    def _same_memory(self, untyped: Any) -> StorageRecord | None:
        """The live storage that already has the memory which NumPy or DLPack handed in under another storage object."""
        address = describe.storage_address(untyped)
        for record in set(self._live_storages.values()) if address else ():
            other = record.ref()
            start = describe.storage_address(other) if other is not None and other.device == untyped.device else None
            if start and address is not None and start <= address < start + max(1, record.nbytes):
                return record
        return None

    def _forget_at_death(self, untyped: Any, record: StorageRecord) -> Any:
        reference = Reference(untyped, self._storage_died)
        reference.table, reference.key = record, id(untyped)
        self._live_storages[id(untyped)] = record
        record.objects += 1
        if record.ref is not None:  # a second storage object on this memory
            self._more_references.append(reference)
        return reference

    def _storage_died(self, reference: Reference) -> None:
        record = reference.table
        self._live_storages.pop(reference.key, None)
        record.objects -= 1
        if not record.objects:
            record.ended = self._clock()

    def _counter(
        self, tensor: torch.Tensor, storage: StorageRecord | None, aliases: TensorRecord | None
    ) -> CounterRecord:
        version = describe.version(tensor)
        if aliases is not None and aliases.counter.version == version:
            return aliases.counter
        base = describe.base(tensor)
        if base is not None:
            return self.register(base).counter
        self._counters += 1
        counter = CounterRecord(self._counters, version)
        if storage is not None:
            storage.counters.append(counter)
        return counter
