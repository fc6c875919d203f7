"""What capture keeps of a tensor, a storage and a version counter while the watch runs: numbers and weak references."""

from __future__ import annotations

from typing import Any

import torch

from inplace_magic.capture import describe

_MOST_WRITES = 256


class CounterRecord:
    """One version counter: a tensor, its views and its ``detach()`` aliases move it together."""

    __slots__ = ("seen_at", "serial", "version", "writes")

    def __init__(self, serial: int, version: int | None) -> None:
        self.serial = serial
        self.version = version
        """As last seen; None for inference tensors, which do not count."""
        self.seen_at: int | None = None
        """Number of the place where the version was last read."""
        self.writes: list[tuple[int, int | None]] = []
        """(autograd sequence number at the time, version before) of the latest writes seen, oldest first."""

    def note_write(self, sequence: int, before: int | None) -> None:
        """Adds a write; of many only the later half is kept."""
        if len(self.writes) >= _MOST_WRITES:
            del self.writes[: _MOST_WRITES // 2]
        self.writes.append((sequence, before))


class StorageRecord:
    """One block of memory."""

    __slots__ = ("born", "counters", "device", "ended", "nbytes", "objects", "ref", "serial")

    def __init__(self, serial: int, nbytes: int, device: torch.device | None, born: int | None) -> None:
        self.serial = serial
        self.nbytes = nbytes
        self.device = device
        self.born = born
        self.ended: int | None = None
        self.ref: Any = None
        self.objects = 0
        """Storage objects on this memory: several after ``from_dlpack`` or a second ``from_numpy``."""
        self.counters: list[CounterRecord] = []
        """Counters of the tensors seen on it; more than one after ``.data``."""


class TensorRecord:
    """One tensor object: its serial number, and the latest observation of it."""

    __slots__ = ("counter", "latest", "ref", "serial", "storage", "used_at")

    def __init__(self, serial: int, storage: StorageRecord | None, counter: CounterRecord) -> None:
        self.serial = serial
        self.storage = storage
        self.counter = counter
        self.latest: Observation | None = None
        self.used_at: int | None = None
        """Of a view whose ``grad_fn`` was not read: the version at which an operation took it into the graph, and so
        brought it up to date."""
        self.ref: Any = None


Observation = tuple[TensorRecord, StorageRecord | None, int | None, describe.Static, bool, int | None]
"""(record, storage, version, static facts, requires grad, autograd node): a tensor at one moment, not yet made
readable."""

UNREAD = -1
"""Stands for the node of a tensor whose ``grad_fn`` must not be read now; told as unknown."""
