"""What happened to a gradient's buffer, in order: backward added to it, it was scaled, a step was made by it, it was
read, it was cleared."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent


@dataclass(frozen=True, slots=True)
class GradientEvent:
    """One thing that happened to the gradient of a leaf."""

    kind: Literal["added", "scaled", "stepped", "read", "cleared"]
    call: CallEvent
    """The backward, or the call that wrote; of ``stepped``, the one that wrote the parameter."""

    @property
    def at(self) -> int:
        """Index of the call."""
        return self.call.index


def gradient_histories(story: Story) -> Iterator[tuple[int, list[GradientEvent]]]:
    """(leaf, events, oldest first) for each gradient that more than one backward added to. One that is made anew each
    time has no history."""
    told = set()
    for backward in story.trace.backwards:
        for entry in backward.added_to:
            if entry.storage not in told:
                told.add(entry.storage)
                yield entry.leaf, _events(story, entry.leaf, entry.storage)


def _events(story: Story, leaf: int, storage: int) -> list[GradientEvent]:
    found = [GradientEvent("added", story.calls[at]) for at in story.added_to.get(storage, ())]
    maker = story.maker_of_storage(storage)
    if maker is not None:
        found.append(GradientEvent("added", maker))
    for call, _mutation in story.writes_to_storage.get(storage, ()):
        if call.does("zeroes") or call.does("overwrites") or call.does("assigns"):
            found.append(GradientEvent("cleared", call))
        elif call.does("scales"):
            found.append(GradientEvent("scaled", call))
    reads = _reads(story, storage)
    by_library = (call for call in reads if call.index in story.stepping_calls)
    steps = {call.index: call for call in (*_steps(story, leaf, reads), *by_library)}
    found += (GradientEvent("stepped", call) for call in steps.values())
    found += (GradientEvent("read", call) for call in reads)
    return sorted(found, key=attrgetter("at"))


def _reads(story: Story, storage: int, among: Container[int] | None = None) -> list[CallEvent]:
    """The calls that computed something from a gradient, oldest first; of all calls, or of some."""
    tensors = story.bindings.by_storage.get(storage, ())
    given = [call for tensor in tensors for call in story.given_to.get(tensor, ())]
    calls = given if among is None else [call for call in given if call.index in among]
    computing = [call for call in calls if call.kind not in ("query", "view")]
    return sorted([call for call in computing if not story.wrote(call.index, storage)], key=attrgetter("index"))


def steps_by(story: Story, storage: int) -> list[CallEvent]:
    """The calls by which library code, an optimizer's, read a gradient where it moves leaves; oldest first."""
    return _reads(story, storage, among=story.stepping_calls)


def _steps(story: Story, leaf: int, gradient_reads: list[CallEvent]) -> Iterator[CallEvent]:
    """The calls that moved a leaf after somebody had read its gradient, since the leaf was moved last."""
    meta = story.observations.get(leaf)
    reads = [call.index for call in gradient_reads]
    last, place = -1, 0
    for call, _mutation in story.writes_to_storage.get(meta.storage, ()) if meta and meta.storage is not None else ():
        if call.does("overwrites"):
            continue
        while place < len(reads) and reads[place] <= last:
            place += 1
        if place < len(reads) and reads[place] <= call.index:
            yield call
        last = call.index
