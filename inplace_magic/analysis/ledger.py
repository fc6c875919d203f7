"""The ledger under every memory table and the chart: by call and by operator, all devices.

A device whose allocator was asked (``Trace.readings``) has its entries from :mod:`.readings`; the others, the CPU first
of all, from the births and deaths of storages, see :mod:`.blocks`. Either way the entries of a device sum exactly to
the change of its live bytes.
"""

from __future__ import annotations

from inplace_magic.analysis.blocks import BEFORE, Block, Entry, blocks_of, entries_by_call, entries_by_op
from inplace_magic.analysis.readings import devices_read, entries_read_by_call, entries_read_by_op
from inplace_magic.trace import Trace


def ledger_of_calls(trace: Trace) -> tuple[Entry, ...]:
    """One entry for each call and device that the call allocated or freed on, in the order of the calls."""
    counted, read = _parted(trace)
    rows = entries_by_call(trace, counted)
    return tuple(sorted((*rows, *entries_read_by_call(trace, read)), key=_order) if trace.readings else rows)


def ledger_of_ops(trace: Trace) -> tuple[Entry, ...]:
    """One entry for each operator and device; empty at level ``calls``.

    What no operator was seen to make or free, such as the storage of ``torch.tensor``, has an entry without ``op``.
    """
    counted, read = _parted(trace)
    return (*entries_by_op(trace, counted), *entries_read_by_op(trace, read))


def live_before(trace: Trace) -> dict[str, int]:
    """Bytes alive when the watch began, by device. Of devices whose allocator was not asked, those are counted that the
    watch met."""
    live: dict[str, int] = {}
    for block in blocks_of(trace):
        if block.older:
            live[block.device] = live.get(block.device, 0) + block.nbytes
    for reading in reversed(trace.readings):
        live[reading.device] = reading.allocated_bytes
    return live


def _parted(trace: Trace) -> tuple[list[Block], list[Block]]:
    """Blocks of devices whose allocator was not asked, and of those whose allocator was."""
    devices = devices_read(trace)
    counted: list[Block] = []
    read: list[Block] = []
    for block in blocks_of(trace):
        (read if block.device in devices else counted).append(block)
    return counted, read


def _order(entry: Entry) -> tuple[int, str, bool]:
    return (BEFORE if entry.call is None else entry.call, entry.device, entry.workspace)
