"""What was allocated and freed on a device whose allocator was asked: differences of its own counters.

They count what no storage shows: the allocator's rounding, buffers inside an operator, and workspaces of cuBLAS and
cuDNN. A workspace is allocated by the call that first needs it and stays for all that come later, so it is no cost of
that line. It is told from the line's tensors by what the allocator was asked for, before rounding: where that grows by
more than the tensors in sight, and never shrinks again, something other than a tensor keeps it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from operator import attrgetter

from inplace_magic.analysis.memory.blocks import Block, Entry
from inplace_magic.record.grouped import grouped, grouped_by
from inplace_magic.record.memory import MemoryReading
from inplace_magic.record.trace import Trace

Key = tuple[int | None, int | None, str]


def entries_read(trace: Trace, blocks: Sequence[Block], *, of_ops: bool) -> list[Entry]:
    """Return one entry for each call, or operator, and device. A workspace has an entry of its own; among operators
    where one alone can have allocated it."""
    if of_ops and not trace.ops:
        return []
    rows = _rows(trace.readings, blocks, of_ops=of_ops)
    sizes = {block.storage.storage: block.nbytes for block in blocks}
    beyond = {key: row.allocated_bytes - sum(sizes[made] for made in row.made) for key, row in rows.items()}
    found: dict[Key, int] = {}
    for call, device, size in _workspaces(trace, blocks):
        able: list[Key] = [(call, None, device)]
        if of_ops:
            able = [key for key, spare in beyond.items() if (key[0], key[2]) == (call, device) and spare >= size]
        if len(able) == 1:
            found[able[0]] = size
    return list(_apart(rows, found))


def _apart(rows: dict[Key, Entry], workspaces: dict[Key, int]) -> Iterator[Entry]:
    """Yield the rows, and behind its own the bytes of each workspace as a row more."""
    for key, row in rows.items():
        size = min(workspaces.get(key, 0), row.allocated_bytes)
        yield replace(row, allocated_bytes=row.allocated_bytes - size)
        if size:
            yield replace(row, allocated_bytes=size, freed_bytes=0, made=(), retained_bytes=size, workspace=True)


def _rows(readings: Iterable[MemoryReading], blocks: Iterable[Block], *, of_ops: bool) -> dict[Key, Entry]:
    """Several pairs of readings of one step are summed."""
    pairs = (pair for ordered in grouped_by(attrgetter("device"), readings).values() for pair in pairwise(ordered))
    keyed = (((first.call, first.op if of_ops else None, first.device), first, then) for first, then in pairs)
    steps = grouped((key, _between(first, then, key)) for key, first, then in keyed)
    new = (block for block in blocks if not block.older)
    made = grouped(((block.born, block.born_op if of_ops else None, block.device), block) for block in new)
    rows = {key: _summed(parts, made.get(key, [])) for key, parts in steps.items()}
    return {key: row for key, row in rows.items() if row.allocated_bytes or row.freed_bytes or row.made}


def _summed(parts: list[Entry], made: list[Block]) -> Entry:
    return replace(
        parts[-1],
        allocated_bytes=sum(part.allocated_bytes for part in parts),
        freed_bytes=sum(part.freed_bytes for part in parts),
        peak_bytes=max(part.peak_bytes for part in parts),
        exact_peak=all(part.exact_peak for part in parts),
        made=tuple(block.storage.storage for block in made),
        retained_bytes=sum(block.nbytes for block in made if block.ended is None),
    )


def _between(first: MemoryReading, then: MemoryReading, key: Key) -> Entry:
    """What happened from one reading to the next. The totals only grow, unless the watched code set them back
    (``reset_accumulated_memory_stats``), or the allocator has none: then only their difference is known, what came and
    went in between not."""
    change = then.allocated_bytes - first.allocated_bytes
    allocated = (then.allocated_total or 0) - (first.allocated_total or 0)
    freed = (then.freed_total or 0) - (first.freed_total or 0)
    counted = first.allocated_total is not None and then.allocated_total is not None
    known = counted and allocated >= 0 and freed >= 0 and allocated - freed == change
    if not known:
        allocated, freed = max(change, 0), max(-change, 0)
    if counted:
        peak, exact = _peak_between(first, then, allocated, freed)
        return Entry(*key, allocated, freed, peak, then.allocated_bytes, exact and known)
    risen = then.peak_bytes > first.peak_bytes
    peak = then.peak_bytes if risen else max(first.allocated_bytes, then.allocated_bytes)
    return Entry(*key, allocated, freed, peak, then.allocated_bytes, risen)


def _peak_between(first: MemoryReading, then: MemoryReading, allocated: int, freed: int) -> tuple[int, bool]:
    """Return the most in use between two readings, and whether that is exact.

    The allocator's own peak is exact when it rose in between. It is never reset here: that would take it from whoever
    else is measuring (pytorch/pytorch issue 16266). Where the watched code resets it, a bound remains.
    """
    ends = max(first.allocated_bytes, then.allocated_bytes)
    if then.peak_bytes > first.peak_bytes:
        return then.peak_bytes, True
    if not freed or not allocated:
        return ends, True
    bound = first.allocated_bytes + allocated
    return (min(then.peak_bytes, bound) if then.peak_bytes == first.peak_bytes else bound), False


def _workspaces(trace: Trace, blocks: Sequence[Block]) -> Iterator[tuple[int, str, int]]:
    """Yield (call, device, bytes) of memory that a call asked for, that no tensor in sight holds, and that stays.

    Of each call its first reading counts. Where operators are seen, that is the one before its first operator: nothing
    had come or gone since the call began, so the two are one reading (:meth:`.MemoryMeter.read`)."""
    inner = {call.index for call in trace.calls if call.parent is not None}
    for device, readings in grouped_by(attrgetter("device"), trace.readings).items():
        held = _held(block for block in blocks if block.device == device)
        unexplained: list[tuple[int | None, int]] = []
        met: set[int] = set()
        begun = 0
        for reading in readings:
            call = reading.call
            if reading.requested_bytes is None or call in inner or call in met:
                continue
            if call is None and reading.op is not None:
                continue
            if call is not None:
                met.add(call)
                begun = call
            elif met:
                begun = max(met) + 1
            unexplained.append((call, reading.requested_bytes - held(begun)))
        lowest = [*accumulate((nbytes for _call, nbytes in reversed(unexplained)), min)][::-1]  # from each on
        for (call, _), before, after in zip(unexplained, lowest, lowest[1:], strict=False):
            if call is not None and after > before:
                yield call, device, after - before


def _held(blocks: Iterable[Block]) -> Callable[[int], int]:
    """Return what tells the bytes of blocks that were there when so many calls had begun, and the next one was about
    to."""
    changes = Counter[int]()
    for block in blocks:
        changes[-1 if block.born is None else block.born] += block.nbytes
        if block.ended is not None:  # when so many calls had begun, so before that call
            changes[block.ended - 1] -= block.nbytes
    calls = sorted(changes)
    sums = [0, *accumulate(changes[call] for call in calls)]
    return lambda begun: sums[bisect_left(calls, begun)]
