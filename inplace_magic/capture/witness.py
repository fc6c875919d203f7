"""Values where versions lie: NumPy, DLPack, ctypes and fused kernels write memory without telling a version counter.

Two witnesses, both digests of raw CPU memory, both only read:

* memory that somebody outside torch can reach (a storage that torch cannot resize: ``from_numpy``, ``from_dlpack``,
``frombuffer``,
  a memory map; or one handed out by ``Tensor.numpy``) is digested at every call's beginning and end, so that a
  foreign write is bracketed between two of the user's lines. A replay memory of ten thousand frames is not read ten
  thousand times: only the latest few are looked at that often, the others when a call gets them or runs backward, and
  a write to one of these is noticed without its line;
* small saved tensors are digested when they are saved and again when a backward begins.

A digest costs about 1 µs per KiB. CUDA memory is never read here: that would wait for the device.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from inplace_magic.capture.records import StorageRecord
from inplace_magic.capture.torch import describe_memory
from inplace_magic.capture.torch.layouts import Layout, memory_of

SAVED_LIMIT = 4096
"""Bytes up to which a saved tensor is digested unless ``check_values`` asks for all."""
SHARED_LIMIT = 65536
"""Bytes up to which memory shared with NumPy and the like is digested unless ``check_values`` asks for all."""


def digest_bytes(pointer: int, nbytes: int) -> int:
    """Return a digest of raw memory, comparable within this process only."""
    return hash(memory_of(nbytes)(pointer).raw)


AT_ONCE = 16
"""Storages that are looked at around every call."""
BYTES_AT_ONCE = 2 * SHARED_LIMIT
"""Bytes that are, together."""


LEFT = 20_000
"""Addresses of which is known what was written there last."""


class SharedMemory:
    """The storages that somebody outside torch can write."""

    def __init__(self, check_values: bool) -> None:
        self._limit = None if check_values else SHARED_LIMIT
        self.digests: dict[StorageRecord, int] = {}
        """By storage, those looked at around every call; empty while nothing is shared."""
        self.aside: dict[StorageRecord, int] = {}
        """The older ones."""
        self._nbytes = 0
        self._sweep_at = 256
        self.too_large: dict[int, StorageRecord] = {}
        self._left: dict[int | None, tuple[int, int, int]] = {}
        """By address, what was written there last: serial of the storage, its bytes, their digest."""

    def add(self, record: StorageRecord) -> None:
        """Begins to watch a storage; CPU only. Into pinned memory a device copies when the call is long over, so a
        change there proves nothing."""
        if record in self.digests or record in self.aside:
            return
        if record.device is None or record.device.type != "cpu" or describe_memory.is_pinned(record()):
            return
        if self._limit is not None and record.nbytes > self._limit:
            self.too_large[record.serial] = record
            return
        digest = self._digest(record)
        if digest is None:
            return
        left = self._left.get(_address(record)) if record.foreign else None
        if left is not None and left[1:] == (record.nbytes, digest):
            record.follows = left[0]
        self._look_often(record, digest)

    def changed(self) -> list[StorageRecord]:
        """Return those looked at around every call whose content is another than when it was last looked at."""
        found = []
        for record, before in list(self.digests.items()):
            now = self._digest(record)
            if now is None:
                self._nbytes -= record.nbytes
                del self.digests[record]
            elif now != before:
                self.digests[record] = now
                self._note_left(record, now)
                found.append(record)
        return found

    def changed_aside(self, used: Iterable[StorageRecord | None] | None = None) -> list[StorageRecord]:
        """Return those put aside whose content is another than when it was last looked at.

        Args:
            used: those that a call gets, which are looked at around every call from now on; None: look at all.
        """
        found = []
        for record in [*self.aside] if used is None else used:
            if record is None or record not in self.aside:
                continue
            before, now = self.aside.pop(record), self._digest(record)
            if now is None:
                continue
            if now != before:
                self._note_left(record, now)
                found.append(record)
            if used is None:
                self.aside[record] = now
            else:
                self._look_often(record, now)
        return found

    def _note_left(self, record: StorageRecord, digest: int) -> None:
        if len(self._left) >= LEFT:
            del self._left[next(iter(self._left))]
        self._left[_address(record)] = record.serial, record.nbytes, digest

    def _look_often(self, record: StorageRecord, digest: int) -> None:
        self.digests[record] = digest
        self._nbytes += record.nbytes
        if len(self.digests) <= AT_ONCE and (self._limit is None or self._nbytes <= BYTES_AT_ONCE):
            return
        oldest = next(iter(self.digests))
        self.aside[oldest] = self.digests.pop(oldest)
        self._nbytes -= oldest.nbytes
        if len(self.aside) > self._sweep_at:
            self.aside = {record: digest for record, digest in self.aside.items() if record() is not None}
            self._sweep_at = 2 * len(self.aside) + 256

    @staticmethod
    def _digest(record: StorageRecord) -> int | None:
        untyped: Any = record()
        if untyped is None:
            return None
        nbytes = untyped.nbytes()
        address = describe_memory.memory_in(untyped, 0, nbytes)
        return digest_bytes(address, nbytes) if address else None


def _address(record: StorageRecord) -> int | None:
    untyped: Any = record()
    return None if untyped is None else describe_memory.storage_address(untyped)


def digestible(layout: Layout, check_values: bool) -> bool:
    """True if a saved tensor that looks so is digested: dense, in CPU memory and not too large."""
    return bool(layout.span) and (check_values or (layout.span or 0) <= SAVED_LIMIT)


def saved_digest(record: StorageRecord | None, layout: Layout, check_values: bool) -> int | None:
    """Return the digest of a saved tensor; None where it is too large, not dense, not in CPU memory or pinned.

    Args:
        record: its storage, which is in use.
        layout: where in the storage it lies.
    """
    if record is None or not digestible(layout, check_values):
        return None
    untyped: Any = record()
    if untyped is None:
        return None
    address = describe_memory.settled_memory(untyped, layout.begin, layout.span or 0)
    return hash(layout.memory_at(address).raw) if address else None


def still_equal(record: StorageRecord, layout: Layout, digest: int) -> bool:
    """True if the memory holds what :func:`saved_digest` gave `digest` for; True as well where it is gone."""
    untyped: Any = record()
    if untyped is None:
        return True
    address = describe_memory.memory_in(untyped, layout.begin, layout.span or 0)
    return not address or hash(layout.memory_at(address).raw) == digest
