"""Which live storage has the memory at an address: asked for every array that comes in from outside torch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

import torch

from inplace_magic.capture.records import AnotherStorageObject, StorageRecord
from inplace_magic.capture.torch import describe_memory

Live = StorageRecord | AnotherStorageObject

_NEIGHBOURS = 16
"""Storages below an address that are looked at. Those of torch never overlap; slices of one array can, when the later
part of it came first."""


class AddressIndex:
    """Live storages, sorted by the start of their memory. A dead one is detected when it is looked up."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._live: list[Live] = []
        self._newest = 0

    def learn(self, newest_first: Iterable[Live]) -> None:
        """Takes in the storages that came since the last time."""
        newest = self._newest
        for live in newest_first:
            if type(live) is not StorageRecord:
                continue  # another object on the memory of one that is known: :meth:`add` has it
            if live.serial <= self._newest:
                break
            newest = max(newest, live.serial)
            self.add(live)
        self._newest = newest

    def add(self, live: Live) -> None:
        """Takes in one storage."""
        untyped = live()
        start = describe_memory.storage_address(untyped) if untyped is not None else None
        if start:
            at = bisect_right(self._starts, start)
            self._starts.insert(at, start)
            self._live.insert(at, live)

    def holder(self, address: int, device: torch.device) -> StorageRecord | None:
        """Return the storage whose memory has the address."""
        at, met = bisect_right(self._starts, address) - 1, 0
        while at >= 0 and met < _NEIGHBOURS:
            live, known_start = self._live[at], self._starts[at]
            untyped = live()
            start = describe_memory.storage_address(untyped) if untyped is not None else None
            if start != known_start:  # it died, or got other memory by `resize_`
                del self._live[at], self._starts[at]
                if start:
                    self.add(live)
                    at = bisect_right(self._starts, address)
            elif untyped is not None and untyped.device == device:
                met += 1
                if start <= address < start + max(1, live.record.nbytes):
                    return live.record
            at -= 1
        return None
