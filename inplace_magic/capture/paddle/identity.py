"""Live Paddle tensors and the memory behind them -> serial numbers, behind weak references.

Paddle has no object for a storage: memory is known by its address, for as long as a tensor that the watch has met
lives on it. Addresses and ``id`` are reused within microseconds, so what died is noted before anything is looked up.
A tensor shares its version counter with all others on its memory (views, ``detach()``, ``.data``), so a storage and
its counter have one number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, NamedTuple

from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.describe import Layout
from inplace_magic.capture.records import Reference


class Observation(NamedTuple):
    """A tensor at one moment."""

    record: TensorRecord
    storage: StorageRecord | None
    version: int | None
    layout: Layout
    pointer: int | None
    requires_grad: bool
    node: int | None
    """Its number; a leaf has none."""


observation: Callable[[tuple[Any, ...]], Observation] = partial(tuple.__new__, Observation)
"""Makes one of its fields; the class itself does the same by a function of Python's."""


class StorageRecord:
    """One block of memory."""

    __slots__ = ("address", "born", "device", "ended", "nbytes", "seen_at", "serial", "tensors", "version")

    def __init__(self, serial: int, address: int, nbytes: int, device: str, born: int | None) -> None:
        self.serial, self.address, self.nbytes, self.device, self.born = serial, address, nbytes, device, born
        self.ended: int | None = None
        self.tensors = 0
        """How many known tensors are alive on it."""
        self.version: int | None = None
        """As last seen."""
        self.seen_at: int | None = None
        """Number of the place where the version was last read."""


class TensorRecord(Reference):
    """One tensor object; a weak reference to it."""

    __slots__ = ("latest", "serial", "storage")
    counter: ClassVar[None] = None
    """It has that of its memory."""
    serial: int
    storage: StorageRecord | None
    latest: Observation | None


class IdentityMap:
    """Gives serial numbers.

    Args:
        clock: how many calls have begun; noted when memory is no longer known.
    """

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self.tensors: dict[int, TensorRecord] = {}
        """By ``id``, of live tensors."""
        self.deaths: deque[TensorRecord] = deque()
        self._died = self.deaths.append
        self._by_address: dict[tuple[int, str], StorageRecord] = {}
        self.storages: list[StorageRecord] = []
        self._held: dict[StorageRecord, TensorRecord] = {}
        """Memory of gradients, by which leaf it is held while no tensor that was met lies on it."""
        self._serial = 0

    def bury(self) -> None:
        """Notes what died since the last time."""
        deaths, tensors = self.deaths, self.tensors
        while deaths:
            dead = deaths[0]  # taken out when it is done with: an interrupt on the way loses nothing
            key = dead.key
            if tensors.get(key) is dead:
                del tensors[key]
            self._leave(dead)
            deaths.popleft()

    def known(self, tensor: Any) -> TensorRecord | None:
        """Return the record of a tensor that was seen already."""
        record = self.tensors.get(id(tensor))
        if record is not None and record() is not tensor:  # it died since the queue was read
            self.bury()
            return None
        return record

    def enter(self, tensor: Any, storage: StorageRecord | None) -> TensorRecord:
        """Return a record for a tensor that has none yet."""
        record = self.tensors[id(tensor)] = TensorRecord(tensor, self._died)
        self._serial += 1
        record.key, record.serial, record.latest, record.storage = id(tensor), self._serial, None, storage
        if storage is not None:
            storage.tensors += 1
        return record

    def move(self, record: TensorRecord, storage: StorageRecord | None) -> None:
        """Notes that a tensor has got other memory, as after ``x.data = y``."""
        if storage is not None:
            storage.tensors += 1
        self._leave(record)
        record.storage = storage

    def storage_of(self, tensor: Any, first: int | None, seen: Layout, born: int | None) -> StorageRecord | None:
        """Return the memory behind a tensor; None where it has none of its own.

        Args:
            born: index of the call that made it, None when it existed before.
        """
        if not first:
            return None
        try:
            key = first - tensor.offset, seen.device
        except Exception:  # as in `describe.address`
            key = describe.address(tensor, first), seen.device
        storage = self._by_address.get(key)
        if storage is not None and not storage.tensors and not self._is_still_held(storage):
            storage = None
        if storage is None:
            nbytes = describe.storage_bytes(tensor, seen)
            storage = StorageRecord(len(self.storages) + 1, key[0], nbytes, key[1], born)
            self._by_address[key] = storage
            self.storages.append(storage)
        return storage

    def clone_of(self, seen: Layout, born: int) -> StorageRecord:
        """Memory that a call has made and no tensor of the user's stands for."""
        storage = StorageRecord(len(self.storages) + 1, 0, seen.nbytes, seen.device, born)
        self.storages.append(storage)
        return storage

    def hold(self, storage: StorageRecord, leaf: TensorRecord) -> None:
        """Notes that a gradient of a leaf lies on the memory, so that it lives without a tensor that was met."""
        self._held[storage] = leaf

    def let_go(self, storage: StorageRecord, leaf: TensorRecord) -> None:
        """The gradient of a leaf lies there no longer."""
        if self._held.get(storage) is leaf:
            del self._held[storage]
            self._close(storage)

    def _is_still_held(self, storage: StorageRecord) -> bool:
        """True if the leaf has its gradient there now; where it has not, the address is another memory's."""
        leaf = self._held.get(storage)
        tensor = None if leaf is None else leaf()
        gradient = None if tensor is None else describe.gradient(tensor)
        if gradient is not None and describe.address(gradient, describe.pointer(gradient)) == storage.address:
            return True
        if leaf is not None:
            self.let_go(storage, leaf)
        return False

    def live(self) -> Iterator[tuple[Any, TensorRecord]]:
        """Yield the tensors that are alive now."""
        self.bury()
        for record in list(self.tensors.values()):
            tensor = record()
            if tensor is not None:
                yield tensor, record

    def _leave(self, record: TensorRecord) -> None:
        storage, record.storage = record.storage, None
        if storage is None:
            return
        storage.tensors -= 1
        if not storage.tensors:
            self._close(storage)

    def _close(self, storage: StorageRecord) -> None:
        """Notes the end of memory on which nothing lies any more."""
        if storage.tensors or storage in self._held or storage.ended is not None:
            return
        key = storage.address, storage.device
        if self._by_address.get(key) is storage:
            del self._by_address[key]
        storage.ended = self._clock()
