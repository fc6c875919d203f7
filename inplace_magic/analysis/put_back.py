"""Writes that were undone: an element is changed, something is computed, and its old value is copied back.

Finite differences work so (``torch.autograd.gradcheck``), on the very memory that a graph has saved: what backward
reads in the end is what was saved. Told from the record alone, so also of memory too large to compare: the last write
copied in a copy of the same elements that was made before the first of them, and that nobody has written since.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from inplace_magic.analysis.overlap import lies_within, may_meet, reach_of_write, region_of
from inplace_magic.analysis.writes import Writes
from inplace_magic.record.events import CallEvent, Mutation, Region


@dataclass(frozen=True)
class Restoration:
    """A write that gave elements the values that they had had when a copy of them was made."""

    at: int
    copied: int
    """Index of the call that made the copy."""
    region: Region


@dataclass(frozen=True)
class Change:
    """Elements that did not have the values of old from one call to another."""

    call: CallEvent
    mutation: Mutation
    until: int | None
    """Index of the call that put the old values back; None: nobody did."""


def restorations(story: Writes) -> dict[int, list[Restoration]]:
    """Return every such write, by the memory written, oldest first."""
    found: dict[int, list[Restoration]] = {}
    for call in story.doing("assigns"):
        if len(call.inputs) == 2 and len(call.mutations) == 1 and call.error is None:
            mutation, source = call.mutations[0], call.inputs[1]
            reach, copy = reach_of_write(call, mutation), story.innermost_new(source.tensor, call.index)
            if mutation.storage is None or reach is None or copy is None or not copy.does("clone"):
                continue
            of_the_same = copy.inputs[0].storage == mutation.storage and region_of(copy.inputs[0]) == reach
            if of_the_same and not story.is_written_between(source.storage, copy.index, call.index):
                found.setdefault(mutation.storage, []).append(Restoration(call.index, copy.index, reach))
    return found


def changes(
    restoring: Sequence[Restoration], read: Region | None, writes: Iterable[tuple[CallEvent, Mutation]]
) -> Iterator[Change]:
    """When elements of `read` were other than at the first of `writes`, which are in the order of the calls."""
    open_: list[tuple[CallEvent, Mutation]] = []
    for call, mutation in writes:
        reach = reach_of_write(call, mutation)
        if not may_meet(reach, read):
            continue
        if not restoring:
            yield Change(call, mutation, None)
            return
        position = bisect_right(restoring, call.index, key=attrgetter("at")) - 1
        back = restoring[position] if position >= 0 and restoring[position].at == call.index else None
        if back is None or not open_ or not _undoes(back, open_):
            open_.append((call, mutation))
            continue
        left = [one for one in open_ if not lies_within(reach_of_write(*one), back.region)]
        if not left:
            yield Change(*open_[0], call.index)
        open_ = left
    if open_:
        yield Change(*open_[0], None)


def _undoes(back: Restoration, open_: list[tuple[CallEvent, Mutation]]) -> bool:
    """True if the copy was made before any of the changes that are open where it was copied back."""
    return all(call.index > back.copied for call, write in open_ if may_meet(reach_of_write(call, write), back.region))
