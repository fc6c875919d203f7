"""What was allocated and freed, step by step: the ledger under every memory table and the chart.

A step is an operator (level ``ops``) or a call. A storage is counted once, however many views it has, with its own
bytes. It is allocated in the step that made it. ``Storage.ended == k`` means that ``k`` calls had begun when it died:
inside call ``k - 1``, or after it in plain Python (``del x``, a rebinding, the end of a function), which runs no torch
call of its own. Freeing is therefore billed to step ``k - 1``: the last thing torch was seen to do before the memory
came back. What was known before the first step and died before it is billed to no step at all, in an entry of its own,
so that the entries of a device sum exactly to the change of its live bytes.

A device whose allocator was read (``Trace.readings``) has its entries from those readings instead. They count what no
storage shows: rounding, workspaces of cuBLAS and cuDNN, buffers inside an operator.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from inplace_magic.trace import MemoryReading, Storage, Trace

BEFORE = -1
"""Stands for the time before the first call or operator."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One step on one device; all numbers are bytes."""

    call: int | None
    """None: before the first call."""
    op: int | None
    """Position in ``Trace.ops``; None in a ledger of calls, and for what no operator was seen to do."""
    device: str
    allocated_bytes: int
    freed_bytes: int
    peak_bytes: int
    """The most that was alive: before this step, and what it allocated."""
    live_bytes: int
    """Alive after the step, once what it freed is gone."""
    exact_peak: bool = True
    """False when ``peak_bytes`` is an upper bound."""
    made: tuple[int, ...] = ()
    """Serial numbers of the storages that the step made."""

    @property
    def net_bytes(self) -> int:
        """Allocated less freed."""
        return self.allocated_bytes - self.freed_bytes


def ledger_of_calls(trace: Trace) -> tuple[Entry, ...]:
    """One entry for each call and device that the call allocated or freed on, in the order of the calls."""
    read = {reading.device for reading in trace.readings}
    last = trace.calls[-1].index if trace.calls else BEFORE
    born: dict[tuple[int, int], list[Storage]] = {}
    died: dict[tuple[int, int], list[Storage]] = {}
    for storage in trace.storages:
        if storage.born is not None:
            born.setdefault((storage.born, BEFORE), []).append(storage)
        if storage.ended is not None:
            died.setdefault((min(storage.ended - 1, last), BEFORE), []).append(storage)
    rows = _entries(trace, born, died, read)
    if trace.ops:
        rows = _with_peaks_inside(rows, ledger_of_ops(trace))
    return tuple(sorted((*rows, *_entries_read(trace.readings)), key=_order))


def ledger_of_ops(trace: Trace) -> tuple[Entry, ...]:
    """One entry for each operator and device; empty at level ``calls``.

    A storage that no operator was seen to make, such as that of ``torch.from_numpy``, has an entry without ``op``.
    """
    if not trace.ops:
        return ()
    read = {reading.device for reading in trace.readings}
    last_of_call: dict[int, int] = {}
    for position, op in enumerate(trace.ops):
        if op.call is not None:
            last_of_call[op.call] = position
    before_call = _ops_before(trace, last_of_call)
    last = len(trace.ops) - 1
    born: dict[tuple[int, int], list[Storage]] = {}
    died: dict[tuple[int, int], list[Storage]] = {}
    for storage in trace.storages:
        if storage.born_op is not None:
            born.setdefault((storage.born_op, BEFORE), []).append(storage)
        elif storage.born is not None:
            born.setdefault((before_call.get(storage.born, BEFORE), storage.born), []).append(storage)
        if storage.ended_op is not None:
            died.setdefault((min(storage.ended_op - 1, last), BEFORE), []).append(storage)
        elif storage.ended is not None:
            died.setdefault((before_call.get(storage.ended - 1, BEFORE), storage.ended - 1), []).append(storage)
    return tuple(_entries(trace, born, died, read, of_ops=True))


def live_before(trace: Trace) -> dict[str, int]:
    """Known bytes alive when the watch began, by device: storages older than the watch that it met."""
    live: dict[str, int] = {}
    for storage in trace.storages:
        if storage.born is None:
            live[storage.device] = live.get(storage.device, 0) + storage.nbytes
    for reading in reversed(trace.readings):
        live[reading.device] = reading.allocated_bytes
    return live


def _call_of(trace: Trace, op: int) -> int | None:
    """The call that ran an operator; None where a saved report names one that it does not hold."""
    return trace.ops[op].call if 0 <= op < len(trace.ops) else None


def _ops_before(trace: Trace, last_of_call: dict[int, int]) -> dict[int, int]:
    """For each call, the last operator of it or of any call before it."""
    found: dict[int, int] = {}
    latest = BEFORE
    for call in trace.calls:
        latest = max(latest, last_of_call.get(call.index, BEFORE))
        found[call.index] = latest
    return found


def _entries(
    trace: Trace,
    born: dict[tuple[int, int], list[Storage]],
    died: dict[tuple[int, int], list[Storage]],
    read: set[str],
    *,
    of_ops: bool = False,
) -> list[Entry]:
    """Entries in the order of the steps, which are (operator, call without operator) or (call, nothing)."""
    live: dict[str, int] = {}
    for storage in trace.storages:
        if storage.born is None and storage.device not in read:
            live[storage.device] = live.get(storage.device, 0) + storage.nbytes
    rows: list[Entry] = []
    for step in sorted({*born, *died}):
        position, without_op = step
        call: int | None = position if position != BEFORE else None
        op: int | None = None
        if of_ops:
            op = position if without_op == BEFORE and position != BEFORE else None
            call = _call_of(trace, op) if op is not None else (without_op if without_op != BEFORE else None)
        for device in dict.fromkeys(s.device for s in (*born.get(step, ()), *died.get(step, ()))):
            if device in read:
                continue
            made = [s for s in born.get(step, ()) if s.device == device]
            allocated = sum(s.nbytes for s in made)
            freed = sum(s.nbytes for s in died.get(step, ()) if s.device == device)
            peak = live.get(device, 0) + allocated
            live[device] = peak - freed
            rows.append(
                Entry(call, op, device, allocated, freed, peak, live[device], of_ops, tuple(s.storage for s in made))
            )
    return rows


def _with_peaks_inside(rows: Iterable[Entry], ops: Iterable[Entry]) -> list[Entry]:
    """The calls' entries with the peaks that their operators reached."""
    peaks: dict[tuple[int | None, str], int] = {}
    for entry in ops:
        key = (entry.call, entry.device)
        peaks[key] = max(peaks.get(key, 0), entry.peak_bytes)
    found = []
    for row in rows:
        peak = peaks.get((row.call, row.device))
        found.append(replace(row, peak_bytes=peak, exact_peak=True) if peak is not None else row)
    return found


def _entries_read(readings: Iterable[MemoryReading]) -> list[Entry]:
    """Entries from the differences of an allocator's readings, several readings of one call summed."""
    by_device: dict[str, list[MemoryReading]] = {}
    for reading in readings:
        by_device.setdefault(reading.device, []).append(reading)
    rows: dict[tuple[int | None, str], Entry] = {}
    for device, ordered in by_device.items():
        for first, then in pairwise(ordered):
            allocated = then.allocated_total - first.allocated_total
            freed = then.freed_total - first.freed_total
            if not allocated and not freed:
                continue
            peak, exact = _peak_between(first, then, allocated, freed)
            key = (first.call, device)
            known = rows.get(key)
            rows[key] = Entry(
                first.call,
                None,
                device,
                allocated + (known.allocated_bytes if known else 0),
                freed + (known.freed_bytes if known else 0),
                max(peak, known.peak_bytes if known else 0),
                then.allocated_bytes,
                exact and (known is None or known.exact_peak),
            )
    return list(rows.values())


def _peak_between(first: MemoryReading, then: MemoryReading, allocated: int, freed: int) -> tuple[int, bool]:
    """The most in use between two readings, and whether that is exact.

    The allocator's own peak is exact when it rose in between. It is never reset here: that would take it from whoever
    else is measuring (pytorch/pytorch issue 16266).
    """
    if then.peak_bytes > first.peak_bytes:
        return then.peak_bytes, True
    if not freed or not allocated:
        return max(first.allocated_bytes, then.allocated_bytes), True
    return min(then.peak_bytes, first.allocated_bytes + allocated), False


def _order(entry: Entry) -> tuple[int, str]:
    return (BEFORE if entry.call is None else entry.call, entry.device)
