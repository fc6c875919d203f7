"""Memory by call and by line, from the births and deaths of storages.

A storage is counted once, however many views it has. It is allocated by the call that made it. ``Storage.ended == k``
means that ``k`` calls had begun when it died, so it died after call ``k - 1`` began and before call ``k`` began. That
may be inside call ``k - 1``, or after it in plain Python (``del x``, a rebinding, the end of a function), which runs no
torch call of its own. Freeing is therefore billed to call ``k - 1`` and to its line: the last thing torch was seen to
do before the memory came back. The true line may be a later one that calls no torch function.

Temporaries inside one call are not in these numbers: at level ``calls`` they are not seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inplace_magic.trace import CallEvent, Callsite, SavedTensor, Trace


@dataclass(frozen=True, slots=True)
class CallMemory:
    """What one call did to the memory of one device; all numbers are bytes."""

    call: int
    device: str
    allocated_bytes: int
    """Storages that the call made."""
    freed_bytes: int
    """Storages that died after the call began and before the next one did."""
    live_bytes: int
    """All known storages alive when the call had ended and before anything was freed; an upper bound."""
    retained_bytes: int
    """Of the allocated ones, those alive when the watch ended."""
    saved_bytes: int
    """Storages that autograd nodes of this call keep for backward and that no earlier call kept."""
    storages: tuple[int, ...] = ()
    """Serial numbers of the storages that the call made."""

    @property
    def net_bytes(self) -> int:
        """Allocated less freed."""
        return self.allocated_bytes - self.freed_bytes


@dataclass(frozen=True, slots=True)
class LineMemory:
    """What all calls of one line did to the memory of one device; all numbers are bytes."""

    site: Callsite | None
    """None for calls whose place could not be told."""
    device: str
    allocated_bytes: int
    freed_bytes: int
    net_bytes: int
    peak_bytes: int
    """The most that was alive during any call of the line, storages from before the watch included where they are
    known; an upper bound, because what a call frees is subtracted only after it."""
    retained_bytes: int
    saved_bytes: int
    calls: tuple[int, ...]
    tensors: tuple[int, ...]
    """Serial numbers of the tensors that live on the storages which the line made."""


def memory_by_call(trace: Trace) -> tuple[CallMemory, ...]:
    """One row per call and device that it touched; an in-place call that allocates nothing has a row of zeros."""
    made: dict[tuple[int, str], list[int]] = {}
    allocated: dict[tuple[int, str], int] = {}
    retained: dict[tuple[int, str], int] = {}
    freed: dict[tuple[int, str], int] = {}
    live: dict[str, int] = {}
    last = trace.calls[-1].index if trace.calls else -1
    for storage in trace.storages:
        if storage.born is None:
            live[storage.device] = live.get(storage.device, 0) + storage.nbytes
        else:
            key = (storage.born, storage.device)
            made.setdefault(key, []).append(storage.storage)
            allocated[key] = allocated.get(key, 0) + storage.nbytes
            if storage.ended is None:
                retained[key] = retained.get(key, 0) + storage.nbytes
        if storage.ended is not None:
            # 0: it died before the first call began, which no call can be billed for.
            key = (min(storage.ended - 1, last), storage.device)
            freed[key] = freed.get(key, 0) + storage.nbytes
    for device in live:
        live[device] -= freed.get((-1, device), 0)
    saved = _first_saves(trace)
    touched = ((call.index, facts.device) for call in trace.calls for facts in (*call.outputs, *call.mutated))
    keys = {key for key in (*allocated, *freed, *saved, *touched) if key[0] >= 0}
    rows: list[CallMemory] = []
    for key in sorted(keys):
        index, device = key
        live[device] = live.get(device, 0) + allocated.get(key, 0)
        rows.append(
            CallMemory(
                call=index,
                device=device,
                allocated_bytes=allocated.get(key, 0),
                freed_bytes=freed.get(key, 0),
                live_bytes=live[device],
                retained_bytes=retained.get(key, 0),
                saved_bytes=saved.get(key, 0),
                storages=tuple(made.get(key, ())),
            )
        )
        live[device] -= freed.get(key, 0)
    return tuple(rows)


def memory_by_line(trace: Trace) -> tuple[LineMemory, ...]:
    """The rows of :func:`memory_by_call` summed by line and device, in the order in which the lines first ran."""
    sites = {call.index: call.callsite for call in trace.calls}
    groups: dict[tuple[object, str], list[CallMemory]] = {}
    for row in memory_by_call(trace):
        groups.setdefault((line_key(sites.get(row.call)), row.device), []).append(row)
    on_storage = _tensors_by_storage(trace.calls)
    return tuple(_line(rows, sites.get(rows[0].call), on_storage) for rows in groups.values())


def saved_storages(trace: Trace) -> tuple[SavedTensor, ...]:
    """The saved tensors, one for each storage: the first that was saved of it."""
    seen: set[int] = set()
    rows: list[SavedTensor] = []
    for saved in trace.saved:
        if saved.storage is None or saved.storage in seen:
            continue
        seen.add(saved.storage)
        rows.append(saved)
    return tuple(rows)


def line_key(site: Callsite | None) -> tuple[int | None, str | None, int]:
    """What makes two places the same line."""
    return (None, None, 0) if site is None else (site.cell, site.file, site.line)


def _line(rows: list[CallMemory], site: Callsite | None, on_storage: dict[int, tuple[int, ...]]) -> LineMemory:
    return LineMemory(
        site=site,
        device=rows[0].device,
        allocated_bytes=sum(row.allocated_bytes for row in rows),
        freed_bytes=sum(row.freed_bytes for row in rows),
        net_bytes=sum(row.net_bytes for row in rows),
        peak_bytes=max(row.live_bytes for row in rows),
        retained_bytes=sum(row.retained_bytes for row in rows),
        saved_bytes=sum(row.saved_bytes for row in rows),
        calls=tuple(row.call for row in rows),
        tensors=tuple(
            dict.fromkeys(tensor for row in rows for storage in row.storages for tensor in on_storage.get(storage, ()))
        ),
    )


def _first_saves(trace: Trace) -> dict[tuple[int, str], int]:
    makers = {node.node: node.call for node in trace.nodes}
    sizes = {storage.storage: storage for storage in trace.storages}
    totals: dict[tuple[int, str], int] = {}
    for saved in saved_storages(trace):
        call = makers.get(saved.node)
        if call is None or saved.storage is None:
            continue
        storage = sizes.get(saved.storage)
        nbytes = storage.nbytes if storage is not None else saved.nbytes or 0
        key = (call, storage.device if storage is not None else saved.device)
        totals[key] = totals.get(key, 0) + nbytes
    return totals


def _tensors_by_storage(calls: Iterable[CallEvent]) -> dict[int, tuple[int, ...]]:
    found: dict[int, dict[int, None]] = {}
    for call in calls:
        for facts in call.outputs:
            if facts.storage is not None:
                found.setdefault(facts.storage, {})[facts.tensor] = None
    return {storage: tuple(tensors) for storage, tensors in found.items()}
