"""Live tensors, storages and version counters -> serial numbers, behind weak references.

``(id, data_ptr, _version)`` is no key: the allocator reuses addresses within microseconds. An object gets a serial
number when it is first seen, and the number is dropped when the object dies, so two tensors never share one. Nothing
here keeps anything alive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import torch

from inplace_magic.capture.addresses import AddressIndex
from inplace_magic.capture.records import (
    NO_WRITES,
    AnotherStorageObject,
    CounterRecord,
    InsideRecord,
    PassingStorage,
    Reference,
    StorageRecord,
    TensorRecord,
)
from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.capture.witness import SharedMemory

_PLAIN_TYPES = describe.PLAIN_TYPES


class IdentityMap:
    """Gives serial numbers.

    Args:
        clock: how many calls have begun; noted when a storage dies.
        check_values: look at the content of memory shared with code outside torch, however large.
    """

    def __init__(self, clock: Callable[[], int], check_values: bool = False) -> None:
        self._clock = clock
        self.shared = SharedMemory(check_values)
        self.ops: int | None = None
        """How many operators have run, by which each has its number; None where they are not seen."""
        self.op: int | None = None
        """The operator whose outputs are being recorded."""
        self.tensors: dict[int, TensorRecord] = {}
        """By ``id``, of live tensors only: an entry goes when the death of its tensor is read."""
        self.deaths: deque[Reference] = deque()
        """What died since :meth:`bury`."""
        self._died = self.deaths.append
        self._inside: dict[int, InsideRecord] = {}
        """Live tensors that only operators have seen so far, by ``id``."""
        self._live_storages: dict[int, StorageRecord | AnotherStorageObject] = {}
        self.in_backward = False
        self._passing: dict[int, PassingStorage] = {}
        """By the address of the storage; of backwards that run."""
        self._addresses = AddressIndex()
        self.storages: list[StorageRecord] = []
        """Those that are not packed."""
        self._serial = 0
        self._storage_serial = 0
        self._counters = 0

    def bury(self) -> None:
        """Notes what died since the last time. It must come before any look-up by ``id``, since Python gives the
        ``id`` of a dead object to the next one, and before the clock moves on."""
        deaths, now = self.deaths, self._clock()
        while deaths:
            dead = deaths[0]  # taken out when it is done with: an interrupt on the way loses nothing
            key = dead.key
            if type(dead) is TensorRecord:
                dead.latest = None  # it leads back to the record, which only the garbage collector would free
                if self.tensors.get(key) is dead:
                    del self.tensors[key]
            elif type(dead) is InsideRecord:
                if self._inside.get(key) is dead:
                    del self._inside[key]
            elif self._live_storages.get(key) is dead:
                del self._live_storages[key]
                record: StorageRecord = dead.record
                record.objects -= 1
                if not record.objects:
                    record.ended, record.ended_op = now, self.ops
            deaths.popleft()

    def register(self, tensor: torch.Tensor) -> TensorRecord:
        """Return the record of a tensor, a new one at first sight."""
        record = self.known(tensor)
        return record if record is not None else self.enter(tensor, self.storage_of(tensor))

    def known(self, tensor: torch.Tensor) -> TensorRecord | None:
        """Return the record of a tensor that was seen already."""
        record = self.tensors.get(id(tensor))
        if record is not None and record() is not tensor:  # it died since the queue was read
            self.bury()
            return None
        return record

    def enter(
        self, tensor: torch.Tensor, storage: StorageRecord | None, aliases: TensorRecord | None = None
    ) -> TensorRecord:
        """Return a record for a tensor that has none yet.

        Args:
            aliases: a record whose version counter it shares, if known.
        """
        key = id(tensor)
        counter = self._counter(tensor, storage, aliases)
        inside = self._inside.pop(key, None) if self._inside else None
        if inside is not None and inside() is tensor:
            serial = inside.serial
        else:
            serial = self._serial = self._serial + 1
        record = self.tensors[key] = TensorRecord(tensor, self._died)
        record.key, record.serial, record.storage, record.counter = key, serial, storage, counter
        record.latest = record.layout = record.pointer = record.layout_at = record.used_at = None
        return record

    def serial_inside(self, tensor: torch.Tensor, born: int | None) -> int:
        """Return the serial number of a tensor that an operator reads, writes or gives.

        Operators run below autograd, where a view or ``detach()`` is not yet tied to the version counter that it will
        share. So such a tensor gets no counter here, and its record when the call that ran the operator returns it.

        Args:
            born: index of the call that made it, None when it may have existed before.
        """
        key = id(tensor)
        record = self.tensors.get(key)
        if record is not None:
            return record.serial
        inside = self._inside.get(key)
        if inside is not None:
            return inside.serial
        self.storage_of(tensor, born)
        serial = self._serial = self._serial + 1
        inside = self._inside[key] = InsideRecord(tensor, self._died)
        inside.key, inside.serial = key, serial
        return serial

    def rebase(self, tensor: torch.Tensor, record: TensorRecord, born: int | None) -> None:
        """Look up the storage again, after ``set_`` or ``t.data = …`` gave the tensor another one."""
        storage = self.storage_of(tensor, born)
        if storage is not record.storage:
            record.storage, record.latest, record.layout = storage, None, None
        if record.storage is not None:
            record.storage.add_counter(record.counter)

    def after_swap(self, tensor: torch.Tensor, record: TensorRecord) -> None:
        """Looks storage and counter up again, which ``swap_tensors`` may have exchanged for those of another tensor."""
        record.layout_at = None
        storage = self.storage_of(tensor)
        if storage is not record.storage:
            record.storage = storage
            record.counter = self.counter_of(tensor, storage, describe.version(tensor)) or self._counter(
                tensor, storage, None
            )

    def counter_of(
        self, tensor: torch.Tensor, storage: StorageRecord | None, version: int | None
    ) -> CounterRecord | None:
        """Return the version counter of a tensor, now at `version`, that needs no record of its own, such as one that a
        node saved; None when more than one is possible."""
        base = tensor._base if type(tensor) in _PLAIN_TYPES else describe.base(tensor)
        if base is not None:
            return self.register(base).counter
        first = None if storage is None else storage.counter
        if storage is None or first is None:
            return None
        if first.neighbour is None:
            return first if first.version == version else None
        fitting = [counter for counter in storage.counters() if counter.version == version]
        return fitting[0] if len(fitting) == 1 else None

    def live(self) -> list[tuple[torch.Tensor, TensorRecord]]:
        """Return the registered tensors that are alive now."""
        found = []
        self.bury()
        for record in list(self.tensors.values()):
            tensor = record()
            if tensor is not None:
                found.append((tensor, record))
        return found

    def storage_of(self, tensor: torch.Tensor, born: int | None = None) -> StorageRecord | None:
        """Return the storage of a tensor, which may have no record of its own."""
        if self.in_backward or self._passing:
            passing = self._passing_storage(tensor, born)
            if passing is not None:
                return passing
        untyped = describe.storage(tensor)
        if untyped is None:
            return None
        key = id(untyped)
        live = self._live_storages.get(key)
        if live is not None:
            if live() is untyped:
                return live.record
            self.bury()  # that one died since the queue was read
        nbytes, device, resizable = describe_memory.storage_facts(untyped)
        address = None if resizable else describe_memory.storage_address(untyped)
        twin = self.storage_at(address, untyped.device) if address else None  # NumPy or DLPack handed it in once more
        if twin is not None:
            another = self._live_storages[key] = AnotherStorageObject(untyped, self._died)
            another.key, another.record = key, twin
            twin.objects += 1
            self._addresses.add(another)
            return twin
        serial = self._storage_serial = self._storage_serial + 1
        record = self._live_storages[key] = StorageRecord(untyped, self._died)
        record.key, record.serial, record.born = key, serial, born
        record.nbytes, record.device = nbytes, device
        record.born_op = self.op
        record.ended = record.ended_op = None
        record.foreign = foreign = not resizable and not describe_memory.is_pinned(untyped)
        record.follows, record.resizes = None, ()
        record.objects, record.counter = 1, None
        self.storages.append(record)
        if foreign:
            self.shared.add(record)
        return record

    def _passing_storage(self, tensor: torch.Tensor, born: int | None) -> PassingStorage | None:
        """Return memory that was first seen during a backward. When backward is over, it gets its storage object."""
        address = describe.address_of_storage(tensor)
        if address is None:
            return None
        self.bury()
        record = self._passing.get(address)
        if record is None or record.ended is not None:  # another storage has its place now
            if not self.in_backward or torch.is_grad_enabled() or describe.users_of_storage(address) != 1:
                return None
            self._storage_serial += 1
            record = self._passing[address] = PassingStorage(lambda: None)  # which is gone at once
            record.key, record.serial, record.born, record.nbytes = 0, self._storage_serial, born, tensor.nbytes
            record.device, record.born_op, record.foreign, record.resizes = tensor.device, self.op, False, ()
            record.ended = record.ended_op = record.counter = record.follows = None
            record.objects = 0
            self.storages.append(record)
        holder: Any = tensor
        if not self.in_backward:
            del self._passing[address]
            holder = describe.storage(tensor)
        key = id(holder)
        live = self._live_storages.get(key)
        if live is None or live() is not holder:
            another = self._live_storages[key] = AnotherStorageObject(holder, self._died)
            another.key, another.record = key, record
            record.objects += 1
            if holder is not tensor:
                self._addresses.add(another)
        return record

    def backward_is_over(self) -> None:
        """Forgets the memory that was passed on and is gone."""
        self.bury()
        self._passing = {address: record for address, record in self._passing.items() if record.ended is None}

    def known_storage_of(self, tensor: torch.Tensor) -> StorageRecord | None:
        """Return the storage of a tensor, where some tensor on it was seen already."""
        untyped = describe.storage(tensor)
        live = self._live_storages.get(id(untyped)) if untyped is not None else None
        return live.record if live is not None and live() is untyped else None

    def look_at_size(self, tensor: torch.Tensor, call: int | None, op: int | None = None) -> None:
        """Notes when the storage of a tensor has another size than when it was last looked at."""
        record = self.known_storage_of(tensor)
        if record is not None:
            _note_size(record, describe.storage(tensor), call, op)

    def look_at_all_sizes(self) -> None:
        """As :meth:`look_at_size`, for every storage. What ``untyped_storage().resize_()`` did is seen by no probe; it
        is billed to the last call that had begun."""
        call = self._clock() - 1
        last_op = self.ops - 1 if self.ops else None
        for live in list(self._live_storages.values()):
            untyped = live()
            if untyped is not None:
                _note_size(live.record, untyped, call if call >= 0 else None, last_op)

    def storage_at(self, address: int, device: torch.device) -> StorageRecord | None:
        """Return the live storage that has the memory at an address."""
        self._addresses.learn(reversed(self._live_storages.values()))
        return self._addresses.holder(address, device)

    def _counter(
        self, tensor: torch.Tensor, storage: StorageRecord | None, aliases: TensorRecord | None
    ) -> CounterRecord:
        plain = type(tensor) in _PLAIN_TYPES
        try:  # as `describe.version` and `describe.base`, whose calls cost more than their answers
            version = tensor._version if plain else describe.version(tensor)
        except RuntimeError:
            version = None
        if aliases is not None and aliases.counter.version == version:
            return aliases.counter
        base = tensor._base if plain else describe.base(tensor)
        if base is not None:
            return self.register(base).counter
        self._counters += 1
        counter = CounterRecord()  # its fields are set here, since a call of an `__init__` would cost as much again
        counter.serial, counter.version, counter.seen_at, counter.writes = self._counters, version, None, NO_WRITES
        if storage is None:
            counter.neighbour = None
        else:
            counter.neighbour, storage.counter = storage.counter, counter
        return counter


def _note_size(record: StorageRecord, untyped: Any, call: int | None, op: int | None) -> None:
    nbytes = describe_memory.storage_size(untyped)
    last = record.resizes[-1][0] if record.resizes else record.nbytes
    if nbytes is not None and nbytes != last:
        record.resizes += ((nbytes, call, op),)
