"""The ledger under every memory table and the chart: by call and by operator, all devices.

A device whose allocator was asked (``Trace.readings``) has its entries from :mod:`.allocator`; the others, the CPU
first of all, from the births and deaths of storages, see :mod:`.blocks`. Either way the entries of a device sum exactly
to the change of its live bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter

from inplace_magic.analysis.memory.allocator import entries_read
from inplace_magic.analysis.memory.blocks import BEFORE, Block, Entry, blocks_of, entries_of, with_peaks_inside
from inplace_magic.record.filled import filled
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace

_entry = filled(Entry)
_PEAK = attrgetter("peak_bytes", "exact_peak")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMemory(Entry):
    """The entries of all calls of one line on one device, summed; the peak is that of the highest call, storages from
    before the watch included where they are known. Its `call` is the first of them."""

    site: Callsite | None
    """None for calls whose place could not be told, and for what happened before the first call."""
    calls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Peak:
    """The moment at which most was alive on a device."""

    device: str
    nbytes: int
    call: int | None
    op: int | None
    storages: tuple[int, ...] = field(default=())
    """Serial numbers of the known storages alive then, the largest first."""


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
        counted, asked = self._apart
        rows = with_peaks_inside(entries_of(self.trace, counted, of_ops=False), self._counted_ops)
        read = entries_read(self.trace, asked, of_ops=False)
        return tuple(sorted((*rows, *read), key=_order) if read else rows)

    @cached_property
    def ops(self) -> tuple[Entry, ...]:
        """One entry for each operator and device; empty at level ``calls``.

        What no operator was seen to make or free, such as the storage of ``torch.tensor``, has an entry without ``op``.
        """
        return (*self._counted_ops, *entries_read(self.trace, self._apart[1], of_ops=True))

    @cached_property
    def before(self) -> dict[str, int]:
        """Bytes alive when the watch began, by device. Of devices whose allocator was not asked, those are counted that
        the watch met."""
        older = grouped((block.device, block.nbytes) for block in self.blocks if block.older)
        live = {device: sum(sizes) for device, sizes in older.items()}
        return live | {reading.device: reading.allocated_bytes for reading in reversed(self.trace.readings)}

    @cached_property
    def _apart(self) -> tuple[list[Block], list[Block]]:
        """The blocks of devices whose allocator was not asked, and of those where it was."""
        read = {reading.device for reading in self.trace.readings}
        apart = grouped((block.device in read, block) for block in self.blocks)
        return apart.get(False, []), apart.get(True, [])

    @cached_property
    def _counted_ops(self) -> list[Entry]:
        return entries_of(self.trace, self._apart[0], of_ops=True)

    @cached_property
    def by_call(self) -> tuple[Entry, ...]:
        """One row per call and device that it touched; an in-place call that allocates nothing has a row of zeros. A
        library's workspace that a call was the first to need has a row of its own."""
        entries = grouped(((BEFORE if entry.call is None else entry.call, entry.device), entry) for entry in self.calls)
        live = dict(self.before)
        touched = {(call.index, facts.device) for call in self.trace.calls for facts in call.outputs}
        touched.update([(call.index, facts.device) for call in self.trace.calls for facts in call.mutated])
        saved = _first_saves(self.trace)
        rows: list[Entry] = []
        for key in sorted(touched.union(entries, saved)):
            own = entries.get(key)
            if own is None:
                now = live.get(key[1], 0)
                own = [_entry(key[0], None, key[1], 0, 0, now, now)]
            live[key[1]] = own[-1].live_bytes
            kept = saved.get(key, 0)
            rows += [_that_keeps(entry, kept) if kept and not entry.workspace else entry for entry in own]
        return tuple(rows)

    @cached_property
    def by_line(self) -> tuple[LineMemory, ...]:
        """The rows of :attr:`by_call` summed by line and device, in the order in which the lines first ran."""
        sites = {call.index: call.callsite for call in self.trace.calls}
        groups: dict[tuple[object, str], list[Entry]] = {}
        for entry in self.by_call:
            key: object = "before" if entry.call is None else line_key(sites.get(entry.call))
            groups.setdefault(("workspace" if entry.workspace else key, entry.device), []).append(entry)
        return tuple(_line(entries, sites) for entries in groups.values())

    @cached_property
    def peaks(self) -> tuple[Peak, ...]:
        """The peak of each device; the first moment of it where it was reached several times."""
        entries = grouped((entry.device, entry) for entry in self.ops or self.calls)
        highest = [(device, max(known, key=attrgetter("peak_bytes"))) for device, known in entries.items()]
        return tuple(Peak(device, at.peak_bytes, at.call, at.op, self._alive_at(at)) for device, at in highest)

    @property
    def most_alive(self) -> int:
        """The bytes alive at the peak, all devices together; where none was allocated or freed, those alive all
        along."""
        return sum({**self.before, **{peak.device: peak.nbytes for peak in self.peaks}}.values())

    def _alive_at(self, entry: Entry) -> tuple[int, ...]:
        """Storages alive at the peak of an entry, before what the step freed was gone."""
        of_ops = entry.op is not None
        position = entry.op if of_ops else entry.call
        if position is None:
            return ()
        alive: dict[int, int] = {}
        for block in self.blocks:
            if of_ops and block.born_op is not None:
                came = block.born_op <= position
            else:
                came = block.older or block.born is None or entry.call is None or block.born <= entry.call
            ended = block.ended_op if of_ops else block.ended
            if came and block.device == entry.device and (ended is None or ended > position):
                alive[block.storage.storage] = block.nbytes
        return tuple(sorted(alive, key=lambda serial: (-alive[serial], serial)))


def _order(entry: Entry) -> tuple[int, str, bool]:
    return (BEFORE if entry.call is None else entry.call, entry.device, entry.workspace)


def _that_keeps(e: Entry, kept: int) -> Entry:
    """Return the entry with `saved_bytes`; ``dataclasses.replace`` takes ten times as long."""
    return _entry(
        *(e.call, e.op, e.device, e.allocated_bytes, e.freed_bytes, e.peak_bytes, e.live_bytes, e.exact_peak),
        *(e.made, e.retained_bytes, e.workspace, kept),
    )


def line_key(site: Callsite | None) -> tuple[int | None, str | None, int]:
    """What makes two places the same line."""
    return (None, None, 0) if site is None else (site.cell, site.file, site.line)


def _line(entries: list[Entry], sites: dict[int, Callsite | None]) -> LineMemory:
    first, highest = entries[0], max(entries, key=_PEAK)
    return LineMemory(
        call=first.call,
        op=None,
        device=first.device,
        allocated_bytes=sum([entry.allocated_bytes for entry in entries]),
        freed_bytes=sum([entry.freed_bytes for entry in entries]),
        peak_bytes=highest.peak_bytes,
        live_bytes=entries[-1].live_bytes,
        exact_peak=highest.exact_peak,
        made=tuple([made for entry in entries for made in entry.made]),
        retained_bytes=sum([entry.retained_bytes for entry in entries]),
        workspace=first.workspace,
        saved_bytes=sum([entry.saved_bytes for entry in entries]),
        site=None if first.call is None or first.workspace else sites.get(first.call),
        calls=tuple([entry.call for entry in entries if entry.call is not None]),
    )


def _first_saves(trace: Trace) -> dict[tuple[int, str], int]:
    """By call and device: bytes of the storages that its nodes are the first to keep."""
    makers = {node.node: node.call for node in trace.nodes}
    sizes = {storage.storage: storage for storage in trace.storages}
    totals: dict[tuple[int, str], int] = {}
    seen: set[int] = set()
    for saved in trace.saved:
        if saved.storage is None or saved.storage in seen:
            continue
        seen.add(saved.storage)
        call = makers.get(saved.node)
        if call is None:
            continue
        storage = sizes.get(saved.storage)
        nbytes = storage.nbytes if storage is not None else saved.nbytes or 0
        key = (call, storage.device if storage is not None else saved.device)
        totals[key] = totals.get(key, 0) + nbytes
    return totals
