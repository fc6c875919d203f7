"""What accelerators say of their own memory, read as calls begin.

The CPU has no counter of its own: there the births and deaths of storages (:mod:`.identity`) are the account. An
accelerator's allocator counts every block, so that differences of its readings sum exactly to what
``torch.cuda.memory_allocated()`` tells. Reading is a look at counters on the host: it waits for no kernel, and it
resets no peak, since that would take it from another profiler (pytorch/pytorch issue 16266).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Protocol

import torch

from inplace_magic.record.memory import MemoryReading


class MemoryBackend(Protocol):
    """The allocator of one kind of device."""

    device_type: str

    def is_available(self) -> bool:
        """True if it is worth while to ask for readings at all; told without touching a device."""

    def read(self) -> Sequence[MemoryReading]:
        """Return one reading for each device in use now; none before the device was first used."""


class CudaMemory:
    """``torch.cuda.memory_stats``: https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory_stats.html."""

    device_type = "cuda"

    def __init__(self) -> None:
        self._last: dict[int, tuple[tuple[int, ...], MemoryReading]] = {}
        """Of each device that had memory at some time: its counters, and the reading made of them."""

    def is_available(self) -> bool:
        """True if torch was built for CUDA; ``torch.cuda.is_available()`` may start the driver, and a process that
        did so can no longer fork workers that use the GPU."""
        return bool(torch.backends.cuda.is_built())  # type: ignore[no-untyped-call]  # torch leaves it unannotated

    def read(self) -> Sequence[MemoryReading]:
        """Return the bytes of every GPU that the allocator has reserved memory on; none of an allocator without totals
        (``backend:cudaMallocAsync``) or without counters (a ``CUDAPluggableAllocator``). The program may set the totals
        back at any time, also to 0 (``reset_accumulated_memory_stats``)."""
        if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]  # torch leaves it without annotations
            return ()
        if torch.cuda.get_allocator_backend() != "native":
            return ()
        found = []
        for device in range(torch.cuda.device_count()):
            stats = torch.cuda.memory.memory_stats_as_nested_dict(device)
            reserved = stats["reserved_bytes"]["all"] if stats else None
            if reserved is None:
                continue
            last = self._last.get(device)
            if last is None and not (reserved["current"] or reserved["allocated"]):
                continue
            used, requested = stats["allocated_bytes"]["all"], stats["requested_bytes"]["all"]["current"]
            counters = (used["current"], reserved["current"], used["peak"], used["allocated"], used["freed"], requested)
            if last is None or last[0] != counters:
                self._last[device] = last = counters, MemoryReading(None, f"cuda:{device}", *counters)
            found.append(last[1])
        return found


class MpsMemory:
    """``torch.mps.current_allocated_memory`` and ``driver_allocated_memory``, which count no totals: what was
    allocated and freed again between two readings is not seen."""

    device_type = "mps"

    def __init__(self) -> None:
        self._last: MemoryReading | None = None

    def is_available(self) -> bool:
        """True if torch sees an Apple GPU."""
        return torch.backends.mps.is_available()

    def read(self) -> Sequence[MemoryReading]:
        """Return the bytes of the one device."""
        now = torch.mps.current_allocated_memory()
        last = self._last or MemoryReading(None, "mps:0", now, 0, now, 0, 0)
        change = now - last.allocated_bytes
        self._last = MemoryReading(
            None,
            "mps:0",
            allocated_bytes=now,
            reserved_bytes=torch.mps.driver_allocated_memory(),
            peak_bytes=max(now, last.peak_bytes),
            allocated_total=(last.allocated_total or 0) + max(change, 0),
            freed_total=(last.freed_total or 0) + max(-change, 0),
        )
        return (self._last,)


BACKENDS: tuple[Callable[[], MemoryBackend], ...] = (CudaMemory, MpsMemory)


_COUNTED = attrgetter("allocated_total", "freed_total", "allocated_bytes", "requested_bytes", "peak_bytes")
"""What two readings have in common between which no memory came or went, and nobody set the peak back. Totals alone do
not tell: after they were set back they can come by the same numbers again."""


class MemoryMeter:
    """Collects readings; what happens after one is billed to its call.

    Args:
        backends: whom to ask, those of this machine when left out.
    """

    def __init__(self, backends: Iterable[MemoryBackend] | None = None) -> None:
        known = [make() for make in BACKENDS] if backends is None else backends
        self._backends = [backend for backend in known if backend.is_available()]
        self.idle = not self._backends
        """Nobody to ask: then :meth:`read` need not be called."""
        self._rows: list[tuple[int | None, int | None, MemoryReading]] = []
        """Call and operator that each reading bills, and the reading, which names neither."""
        self._latest: dict[str, int] = {}
        self._place: tuple[int | None, int | None] | None = None
        """Call and operator of the last look; None before the first one."""

    @property
    def readings(self) -> list[MemoryReading]:
        """All of them, each with the call that it bills."""
        return [replace(reading, call=call, op=op) for call, op, reading in self._rows]

    def read(self, call: int | None, op: int | None = None) -> None:
        """Notes the counters as a call or operator begins, or as a call goes on after one inside it.

        Args:
            call: the innermost running call; None when there is none.
        """
        rows = self._rows
        for backend in self._backends:
            for reading in backend.read():
                place = self._latest.get(reading.device)
                if place is not None:
                    before = rows[place][2]
                    if before is reading or _COUNTED(before) == _COUNTED(reading):
                        rows[place] = call, op, before  # nothing to bill to the one before
                        continue
                elif self._place is not None:  # first used since the last look: it had nothing then
                    rows.append((*self._place, _nothing_yet(reading)))
                self._latest[reading.device] = len(rows)
                rows.append((call, op, reading))
        self._place = (call, op)

    def forget(self, kept: set[int]) -> None:
        """Bills what calls that are no longer kept did to no call, in one sum for each run of them."""
        latest: dict[str, int] = {}
        rows, self._rows, self._latest = self._rows, [], latest
        for call, _, reading in rows:
            known = call if call in kept else None
            place = latest.get(reading.device)
            if known is None and place is not None and self._rows[place][0] is None:
                continue
            latest[reading.device] = len(self._rows)
            self._rows.append((known, None, reading))


def _nothing_yet(reading: MemoryReading) -> MemoryReading:
    requested = None if reading.requested_bytes is None else 0
    return MemoryReading(None, reading.device, 0, 0, 0, 0, 0, requested)
