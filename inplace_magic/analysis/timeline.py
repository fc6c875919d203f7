"""Which lanes and which calls a timeline shows, so that any watch fits on a page.

Of a loop one pass is shown, or those that findings are about; the others are one gap. Of the storages that something
happened to in what is left, those of findings come first, then those that the user's variables name, then those
written in place, then the largest. Calls at which nothing happens to a lane that is shown are gaps too.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import attrgetter

from inplace_magic.analysis.call_tree import call_tree
from inplace_magic.analysis.lanes import Lane
from inplace_magic.analysis.tree.branches import Branch, passes_of
from inplace_magic.analysis.tree.folds import has_hole, holes_of
from inplace_magic.analysis.vertices import CallVertex, vertex_of
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace

LANES = 10
"""Lanes that are shown; of more than these a sixth fewer, since some are left out anyway."""
COLUMNS = 72
ROOMY = 30
"""Up to so many calls, every pass of a loop is shown."""
SHORT = 8
"""Calls of a loop so short that leaving passes out gains nothing."""
BEFORE, AFTER = 12, 6
"""Calls shown around what a finding is about, where not all fit."""

_CALL = attrgetter("call")


@dataclass(frozen=True, slots=True)
class Focus:
    """What a finding is about."""

    lane: str
    call: int
    """Index of the writing call."""
    saved_call: int | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """One call, or a gap that stands for several."""

    first: int
    last: int
    """Index of the first and of the last call."""
    calls: int = 1
    passes: int = 0
    """Of a gap that is nothing else: passes of a loop of which another one is shown."""
    gap: bool = False
    partial: bool = False
    """Of a gap: further calls ran in it that are missing."""
    site: Callsite | None = None
    """The line, as the tables name it."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """What is shown, and how much is not."""

    lanes: tuple[Lane, ...]
    """In the order in which they came to be."""
    columns: tuple[Column, ...]
    """In the order of time."""
    lanes_left_out: int = 0
    """Lanes that something happened to, and that are not shown."""
    writes_left_out: int = 0
    """Writes to them."""


def timeline_of(
    trace: Trace, lanes: Sequence[Lane], focus: Sequence[Focus], *, most: int = LANES, columns: int = COLUMNS
) -> Timeline:
    """Chooses what to show.

    Args:
        focus: what the findings are about, worst first.
        columns: calls to show; between any two of them there may be a gap.
    """
    own = {lane.key: set(map(_CALL, lane.marks + lane.kept)) for lane in lanes}
    failed = [call.index for call in trace.calls if call.error is not None]
    wanted = [index for each in focus for index in (each.call, each.saved_call) if index is not None] + failed
    tree = _columns(trace, set().union(*own.values(), *map(_reads, lanes), failed), set(wanted))
    visible = {column.first for column in tree if not column.gap}
    happened = [lane for lane in lanes if not visible.isdisjoint(own[lane.key])]
    shown = _ranked(happened, focus)[: most if len(happened) <= most else most * 5 // 6]
    keys = {lane.key for lane in shown}
    touching = set().union(*(own[key] for key in keys), *map(_reads, shown), wanted)
    fitting = _fitting([column for column in tree if column.first in touching and not column.gap], wanted, columns)
    left = [lane for lane in lanes if own[lane.key] and lane.key not in keys]
    return Timeline(
        tuple(sorted(shown, key=lambda lane: _birth(lane, own))),
        _merged(tree, fitting, trace),
        len(left),
        sum(mark.is_write for lane in left for mark in lane.marks),
    )


def _reads(lane: Lane) -> set[int]:
    ends = {kept.until for kept in lane.kept if kept.until is not None and kept.end in ("freed", "unknown")}
    return ends.union(*(kept.reads for kept in lane.kept))


def _columns(trace: Trace, events: set[int], wanted: set[int]) -> list[Column]:
    calls = [vertex_of(call) for call in trace.calls if call.index in events]
    if len(calls) <= ROOMY:
        return [_column(call) for call in calls]
    return list(_without_other_passes(call_tree(calls), wanted))


def _without_other_passes(branches: Iterable[Branch], wanted: set[int]) -> Iterable[Column]:
    for branch in branches:
        if branch.kind == "call":
            yield _column(branch.calls[0])
        elif branch.kind == "loop":
            opened = [any(call.call in wanted for call in part.calls) for part in branch.parts]
            opened[0] = opened[0] or not any(opened)
            short = len(branch.calls) <= SHORT
            for shown, part in zip(opened, branch.parts, strict=True):
                if shown or short:
                    yield from _without_other_passes(part.parts if part.kind == "pass" else (part,), wanted)
                else:
                    yield Column(part.calls[0].call, part.calls[-1].call, passes=passes_of((part,)), gap=True)
        else:
            yield from _without_other_passes(branch.parts, wanted)


def _column(call: CallVertex) -> Column:
    return Column(call.call, call.call, site=call.site, error=call.error)


def _ranked(lanes: Sequence[Lane], focus: Sequence[Focus]) -> list[Lane]:
    order = {each.lane: -place for place, each in reversed(list(enumerate(focus)))}

    def rank(lane: Lane) -> tuple[int, bool, bool, int]:
        named = any("." not in name.name and "[" not in name.name for name in lane.names)
        written = any(mark.is_write for mark in lane.marks)
        return order.get(lane.key, -len(order) - 1), named, written, lane.nbytes or 0

    return sorted(lanes, key=rank, reverse=True)


def _birth(lane: Lane, events: Mapping[str, set[int]]) -> tuple[int, int]:
    return (-1, min(events[lane.key], default=0)) if lane.first is None else (lane.first, 0)


def _fitting(columns: list[Column], wanted: list[int], most: int) -> set[int]:
    """Return the calls to show: what findings are about, then what is around it, then from the beginning on."""
    if len(columns) <= most:
        return {column.first for column in columns}
    place = {column.first: number for number, column in enumerate(columns)}
    starts = [place[index] for index in wanted if index in place]
    kept = dict.fromkeys(starts)
    for start in starts:
        kept.update(dict.fromkeys(range(max(0, start - BEFORE), min(len(columns), start + AFTER))))
    kept.update(dict.fromkeys(range(len(columns))))
    return {columns[number].first for number in list(kept)[:most]}


def _merged(columns: Iterable[Column], kept: set[int], trace: Trace) -> tuple[Column, ...]:
    """Return the columns in order, all that is not shown between two of them as one gap, with the calls in it
    counted."""
    found: list[Column] = []
    for column in columns:
        if not column.gap and column.first in kept:
            found.append(column)
        elif found and found[-1].gap:
            last = found[-1]
            passes = last.passes + column.passes if last.passes and column.passes else 0
            found[-1] = replace(last, last=column.last, passes=passes)
        else:
            found.append(Column(column.first, column.last, passes=column.passes, gap=True))
    indexes, holes = [call.index for call in trace.calls], holes_of(trace.calls)
    ran = [0, *accumulate([call.passes for call in trace.calls])]
    counts = (ran[bisect_right(indexes, each.last)] - ran[bisect_left(indexes, each.first)] for each in found)
    return tuple(
        replace(each, calls=calls, partial=has_hole(holes, each.first, each.last, around=True)) if each.gap else each
        for each, calls in zip(found, counts, strict=True)
    )
