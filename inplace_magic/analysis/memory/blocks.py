"""What was allocated and freed, step by step, told from the births and deaths of storages.

A step is an operator (level ``ops``) or a call. A storage is counted once, however many views it has, with its own
bytes. It is allocated in the step that made it. ``Storage.ended == k`` means that ``k`` calls had begun when it died:
inside call ``k - 1``, or after it in plain Python (``del x``, a rebinding, the end of a function), which runs no torch
call of its own. Freeing is therefore billed to step ``k - 1``: the last thing torch was seen to do before the memory
came back. A storage that gets another size (``resize_``, ``out=``) gives its block back and takes a new one. What no
step can be billed for, such as a death before the first call, has an entry of its own, so that the entries of a device
sum exactly to the change of its live bytes.

Not counted is what torch does not allocate: memory of NumPy and others (``Storage.foreign``) and that of ``meta``
tensors, which is none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from inplace_magic.record.filled import filled
from inplace_magic.record.grouped import grouped
from inplace_magic.record.memory import Storage
from inplace_magic.record.trace import Trace

BEFORE = -1
"""Stands for the time before the first call or operator."""

Step = tuple[int, int, int | None, int | None]
"""(call, BEFORE) in a ledger of calls; in one of operators (operator, BEFORE), or (last operator before it, call) for a
call that did something without an operator. Behind these two, by which steps are ordered: its call and operator."""
Slot = tuple[Step, str]
"""A step on a device."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One step on one device; all numbers are bytes."""

    call: int | None
    """None: no call can be billed for it."""
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
    retained_bytes: int = 0
    """Of the storages' bytes that the step allocated, those alive when the watch ended."""
    workspace: bool = False
    """Memory that no tensor in sight holds, and that stays: a library's workspace, allocated at its first use."""
    saved_bytes: int = 0
    """Storages that autograd nodes of this call keep for backward and that no earlier call kept."""

    @property
    def net_bytes(self) -> int:
        """Allocated less freed."""
        return self.allocated_bytes - self.freed_bytes


_entry = filled(Entry)


@dataclass(frozen=True, slots=True)
class Block:
    """A storage at one size: what the allocator gave for it, and when that came and went."""

    storage: Storage
    nbytes: int
    older: bool
    """Allocated before the watch."""
    born: int | None
    born_op: int | None
    ended: int | None
    """How many calls had begun when it went; None while it is there at the end."""
    ended_op: int | None

    @property
    def device(self) -> str:
        """Where it is."""
        return self.storage.device


_block = filled(Block)


def blocks_of(trace: Trace) -> tuple[Block, ...]:
    """Everything that an allocator of torch gave or had given, in the order in which it was first seen."""
    blocks: list[Block] = []
    for storage in trace.storages:
        if storage.foreign or storage.device == "meta":
            continue
        nbytes, born, born_op = storage.nbytes, storage.born, storage.born_op
        older = born is None and born_op is None
        for resize in storage.resizes:
            gone = 0 if resize.call is None else resize.call + 1
            gone_op = None if resize.op is None else resize.op + 1
            blocks.append(_block(storage, nbytes, older, born, born_op, gone, gone_op))
            nbytes, born, born_op, older = resize.nbytes, resize.call, resize.op, False
        blocks.append(_block(storage, nbytes, older, born, born_op, storage.ended, storage.ended_op))
    return tuple(blocks)


def entries_of(trace: Trace, blocks: Sequence[Block], *, of_ops: bool) -> list[Entry]:
    """Return one entry for each step and device on which it allocated or freed, in the order of the steps.

    What no operator was seen to make or free, such as the storage of ``torch.tensor``, has an entry without ``op``.

    Args:
        of_ops: the steps are operators, of which level ``calls`` has none, and not calls.
    """
    if of_ops and not trace.ops:
        return []
    before_call = _ops_before(trace) if of_ops else {}
    last = len(trace.ops) - 1 if of_ops else trace.calls[-1].index if trace.calls else BEFORE

    def step(call: int | None, op: int | None) -> Step:
        at = op if of_ops else call
        if of_ops and at is None:
            known = BEFORE if call is None else call
            return before_call.get(known, BEFORE), known, None if known == BEFORE else known, None
        at = BEFORE if at is None else min(at, last)  # a saved report may name an operator that it does not hold
        if at == BEFORE:
            return BEFORE, BEFORE, None, None
        return (at, BEFORE, trace.ops[at].call, at) if of_ops else (at, BEFORE, at, None)

    came: defaultdict[Slot, list[Block]] = defaultdict(list)
    went: defaultdict[Slot, list[Block]] = defaultdict(list)
    live: dict[str, int] = {}
    for block in blocks:
        device = block.device
        if block.older:
            live[device] = live.get(device, 0) + block.nbytes
        else:
            came[step(block.born, block.born_op), device].append(block)
        call, op = (None if ended is None else ended - 1 for ended in (block.ended, block.ended_op))
        if call is not None or (of_ops and op is not None):
            went[step(call, op), device].append(block)
    rows: list[Entry] = []
    for slot in sorted(dict.fromkeys((*came, *went)), key=lambda slot: slot[0][:2]):
        (_at, _known, call, op), device = slot
        made = came.get(slot, ())
        allocated, freed = sum([block.nbytes for block in made]), sum([block.nbytes for block in went.get(slot, ())])
        retained = sum([block.nbytes for block in made if block.ended is None])
        peak = live.get(device, 0) + allocated
        live[device] = now = peak - freed
        serials = tuple([block.storage.storage for block in made])
        rows.append(_entry(call, op, device, allocated, freed, peak, now, of_ops, serials, retained))
    return rows


def _ops_before(trace: Trace) -> dict[int, int]:
    """For each call, the last operator of it or of any call before it."""
    last_of_call = {op.call: position for position, op in enumerate(trace.ops)}
    latest = accumulate((last_of_call.get(call.index, BEFORE) for call in trace.calls), max)
    return dict(zip((call.index for call in trace.calls), latest, strict=True))


def with_peaks_inside(rows: Iterable[Entry], ops: Iterable[Entry]) -> list[Entry]:
    """Return the calls' entries with the peaks that their operators reached."""
    inside = grouped(((entry.call, entry.device), entry.peak_bytes) for entry in ops)
    peaks = ((row, max(inside.get((row.call, row.device), ()), default=None)) for row in rows)
    return [row if peak is None else replace(row, peak_bytes=peak, exact_peak=True) for row, peak in peaks]
