"""Which lanes and which calls a timeline shows, so that any watch fits on a page.

Of a loop one pass is shown, or those that findings are about, and the others are one gap. Of the storages that
something happened to in what is left, those of findings come first, then those that the user's variables name, then
those written in place, then the largest. Calls at which nothing happens to a lane that is shown are gaps too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from inplace_magic.analysis.call_tree import Branch, call_tree
from inplace_magic.analysis.graph import CallVertex
from inplace_magic.analysis.lanes import Lane
from inplace_magic.trace import Callsite, Trace

LANES = 24
COLUMNS = 120
ROOMY = 30
"""Up to so many calls, every pass of a loop is shown."""
BEFORE, AFTER = 12, 6
"""Columns shown around what a finding is about, where not all fit."""


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
    """Of a gap: passes of a loop of which another one is shown."""
    gap: bool = False
    site: Callsite | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Timeline:
    """What is shown, and how much is not."""

    lanes: tuple[Lane, ...]
    columns: tuple[Column, ...]
    lanes_left_out: int = 0
    writes_left_out: int = 0
    """Writes to the lanes that are left out."""


def timeline_of(
    trace: Trace, lanes: Sequence[Lane], focus: Sequence[Focus], *, most: int = LANES, columns: int = COLUMNS
) -> Timeline:
    """Chooses what to show.

    Args:
        trace: what was recorded.
        lanes: what happened to each storage.
        focus: what the findings are about, worst first.
        most: lanes to show.
        columns: calls and gaps to show, at most.
    """
    calls = _eventful(trace, lanes)
    wanted = {index for each in focus for index in (each.call, each.saved_call) if index is not None}
    wanted.update(call.index for call in trace.calls if call.error is not None)
    tree = (
        _without_other_passes(call_tree(calls), wanted)
        if len(calls) > ROOMY
        else [Column(call.call, call.call, site=call.site, name=call.name) for call in calls]
    )
    visible = {column.first for column in tree if not column.gap}
    happened = [lane for lane in lanes if _events(lane) & visible]
    shown = _ranked(happened, focus)[:most]
    events = set().union(*map(_events, shown)) | wanted
    kept = _fitting([column for column in tree if not column.gap and column.first in events], wanted, columns)
    all_with_events = [lane for lane in lanes if _events(lane)]
    left = {lane.key for lane in all_with_events} - {lane.key for lane in shown}
    return Timeline(
        tuple(sorted(shown, key=_birth)),
        _merged(tree, kept),
        len(left),
        sum(mark.kind == "mutated" for lane in lanes if lane.key in left for mark in lane.marks),
    )


def _events(lane: Lane) -> set[int]:
    found = {mark.call for mark in lane.marks}
    for keeping in lane.kept:
        found.add(keeping.call)
        found.update(keeping.reads)
        if keeping.until is not None and keeping.end in ("freed", "unknown"):
            found.add(keeping.until)
    return found


def _eventful(trace: Trace, lanes: Iterable[Lane]) -> list[CallVertex]:
    events: set[int] = set().union(*map(_events, lanes))
    return [
        CallVertex(f"C{call.index}", call.index, call.name, call.kind, (), call.callsite, call.error, call.modules)
        for call in trace.calls
        if call.index in events or call.error is not None
    ]


def _without_other_passes(branches: Iterable[Branch], wanted: set[int]) -> list[Column]:
    found: list[Column] = []
    for branch in branches:
        if branch.kind == "call":
            (call,) = branch.calls
            found.append(Column(call.call, call.call, site=call.site, name=call.name))
        elif branch.kind == "loop":
            open_ = [any(call.call in wanted for call in part.calls) for part in branch.parts]
            if not any(open_):
                open_[0] = True
            for shown, part in zip(open_, branch.parts, strict=True):
                if shown:
                    found += _without_other_passes(part.parts or (part,), wanted)
                else:
                    found.append(_gap(part.calls[0].call, part.calls[-1].call, len(part.calls), 1))
        else:
            found += _without_other_passes(branch.parts, wanted)
    return found


def _gap(first: int, last: int, calls: int, passes: int = 0) -> Column:
    return Column(first, last, calls, passes, gap=True)


def _ranked(lanes: Sequence[Lane], focus: Sequence[Focus]) -> list[Lane]:
    order = {each.lane: -place for place, each in reversed(list(enumerate(focus, 1)))}

    def rank(lane: Lane) -> tuple[int, int, int, int]:
        named = any("." not in name.name and "[" not in name.name for name in lane.names)
        written = any(mark.kind in ("mutated", "unseen") for mark in lane.marks)
        return order.get(lane.key, -(10**9)), named, written, lane.nbytes or 0

    return sorted(lanes, key=rank, reverse=True)


def _birth(lane: Lane) -> tuple[int, int]:
    if lane.first is not None:
        return lane.first, 0
    return -1, min(_events(lane), default=0)


def _fitting(columns: list[Column], wanted: set[int], most: int) -> set[int]:
    """The calls to show, where not all fit: those around findings, then from the beginning on."""
    if len(columns) <= most:
        return {column.first for column in columns}
    kept: dict[int, None] = {}
    for place, column in enumerate(columns):
        if column.first in wanted:
            kept.update(dict.fromkeys(range(max(0, place - BEFORE), min(len(columns), place + AFTER))))
    kept.update(dict.fromkeys(range(len(columns))))
    return {columns[place].first for place in list(kept)[:most]}


def _merged(columns: Iterable[Column], kept: set[int]) -> tuple[Column, ...]:
    """The columns in order, what is not shown between two of them as one gap."""
    found: list[Column] = []
    for column in columns:
        if not column.gap and column.first in kept:
            found.append(column)
            continue
        last = found[-1] if found and found[-1].gap else None
        if last is None:
            found.append(replace(column, gap=True, site=None, name=""))
        elif bool(last.passes) == bool(column.passes):
            found[-1] = _gap(last.first, column.last, last.calls + column.calls, last.passes + column.passes)
        else:
            found.append(replace(column, gap=True, site=None, name=""))
    return tuple(found)
