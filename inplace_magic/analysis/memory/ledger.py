"""The ledger under every memory table and the chart: by call and by operator, all devices.

A device whose allocator was asked (``Trace.readings``) has its entries from :mod:`.allocator`; the others, the CPU
first of all, from the births and deaths of storages, see :mod:`.blocks`. Either way the entries of a device sum exactly
to the change of its live bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from inplace_magic.analysis.memory.allocator import devices_read, entries_read_by_call, entries_read_by_op
from inplace_magic.analysis.memory.blocks import (
    BEFORE,
    Block,
    Entry,
    blocks_of,
    entries_by_call,
    entries_by_op,
    with_peaks_inside,
)
from inplace_magic.record.trace import Trace


@dataclass(frozen=True)
class Ledger:
    """The entries of a trace, each sort worked out once and only when somebody asks."""

    trace: Trace

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Everything that was allocated, on all devices."""
        return blocks_of(self.trace)

    @cached_property
    def calls(self) -> tuple[Entry, ...]:
        """One entry for each call and device that the call allocated or freed on, in the order of the calls."""
        rows = with_peaks_inside(entries_by_call(self.trace, self._counted), self._counted_ops)
        read = entries_read_by_call(self.trace, self._read)
        return tuple(sorted((*rows, *read), key=_order) if read else rows)

    @cached_property
    def ops(self) -> tuple[Entry, ...]:
        """One entry for each operator and device; empty at level ``calls``.

        What no operator was seen to make or free, such as the storage of ``torch.tensor``, has an entry without ``op``.
        """
        return (*self._counted_ops, *entries_read_by_op(self.trace, self._read))

    @cached_property
    def before(self) -> dict[str, int]:
        """Bytes alive when the watch began, by device. Of devices whose allocator was not asked, those are counted that
        the watch met."""
        live: dict[str, int] = {}
        for block in self.blocks:
            if block.older:
                live[block.device] = live.get(block.device, 0) + block.nbytes
        for reading in reversed(self.trace.readings):
            live[reading.device] = reading.allocated_bytes
        return live

    @cached_property
    def _devices_read(self) -> frozenset[str]:
        return devices_read(self.trace)

    @cached_property
    def _counted(self) -> list[Block]:
        return [block for block in self.blocks if block.device not in self._devices_read]

    @cached_property
    def _counted_ops(self) -> list[Entry]:
        return entries_by_op(self.trace, self._counted)

    @cached_property
    def _read(self) -> list[Block]:
        return [block for block in self.blocks if block.device in self._devices_read]


def _order(entry: Entry) -> tuple[int, str, bool]:
    return (BEFORE if entry.call is None else entry.call, entry.device, entry.workspace)
