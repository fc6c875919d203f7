"""What happened to each gradient, in order: one list of events for each memory, and one letter for each event.

``w.grad`` after two backwards, a step and ``zero_grad(set_to_none=False)`` has the letters ``aasc``. So a bad sequence
can be searched for by a regular expression (``hazards/gradients/sequences.py``).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from inplace_magic.analysis.remembered import remembered
from inplace_magic.record.events import CallEvent

if TYPE_CHECKING:
    from inplace_magic.analysis.story import Story

_AT = attrgetter("at")
Letter = Literal["a", "c", "d", "e", "m", "q", "r", "s", "v", "x"]
"""``a``: a backward made it, or added to it. ``x``: it was scaled. ``m``: a part of it was set. ``e``: another edit.
``s``: a leaf was moved by it. ``r``: a line of the user's read it; ``q``: library code did. ``v``: a view was taken.
``c``: it was cleared. ``d``: its memory was dropped."""


@dataclass(frozen=True, slots=True)
class GradientEvent:
    """One thing that happened to a gradient."""

    letter: Letter
    call: CallEvent
    """The backward, or the call; of ``s``, the one that moved the leaf, or that read the gradient for an optimizer."""

    @property
    def at(self) -> int:
        """Index of the call."""
        return self.call.index


@dataclass(frozen=True)
class History:
    """All events of one gradient's memory, oldest first."""

    leaf: int | None
    """None where no backward added to the memory, so that nobody knows whose gradient it is."""
    events: tuple[GradientEvent, ...]

    @cached_property
    def letters(self) -> str:
        """One letter an event."""
        return "".join(event.letter for event in self.events)

    def first_use(self, after: int) -> GradientEvent | None:
        """Return the first event after a call that is no backward."""
        place = bisect_right(self.events, after, key=_AT)
        return next((event for event in islice(self.events, place, None) if event.letter != "a"), None)


@dataclass(frozen=True)
class Gradients:
    """The gradients of a story, each looked at when it is first asked for."""

    story: Story

    @cached_property
    def histories(self) -> list[History]:
        """Of each gradient that several backwards added to, or that somebody wrote: all others have no history."""
        story = self.story
        written = [storage for storage in story.writes_to_storage if self._is_made_by_backward(storage)]
        return [self.of(storage) for storage in dict.fromkeys((*self._leaves, *written))]

    @remembered
    def of(self, storage: int) -> History:
        """Return the history of a memory."""
        leaf = self._leaves.get(storage)
        events = sorted(self._events(storage, leaf), key=_AT)
        end = self.story.ended.get(storage)
        last = self.story.calls.get(end - 1) if end is not None else None
        if end is not None and (last is not None or events):
            events.append(GradientEvent("d", last or events[-1].call))
        return History(leaf, tuple(events))

    @remembered
    def leaves_of(self, backward: int) -> frozenset[int]:
        """Return the leaves that a backward came to."""
        nodes = (self.story.nodes[node].variable for node in self.story.went_through(backward))
        return frozenset(leaf for leaf in nodes if leaf is not None)

    def moved(self, leaf: int, since: int, until: int) -> CallEvent | None:
        """Return the first call, of those from `since` to before `until`, that moved a leaf by its values, as steps
        do."""
        calls = self._moving(leaf)
        place = bisect_left(calls, since, key=attrgetter("index"))
        return calls[place] if place < len(calls) and calls[place].index < until else None

    @remembered
    def _moving(self, leaf: int) -> list[CallEvent]:
        """Return the calls that moved a leaf by its values, oldest first."""
        meta = self.story.observations.get(leaf)
        writes = self.story.writes_to_storage.get(meta.storage or 0, ()) if meta is not None else ()
        return [call for call, _mutation in writes if not call.does("overwrites")]

    @cached_property
    def _leaves(self) -> dict[int, int]:
        """The leaves by the memories of their gradients, where a backward added to one."""
        return {entry.storage: entry.leaf for backward in self.story.trace.backwards for entry in backward.added_to}

    def _is_made_by_backward(self, storage: int) -> bool:
        maker = self.story.maker_of_storage(storage)
        return maker is not None and maker.index in self.story.backwards and not maker.does("gives gradients")

    def _events(self, storage: int, leaf: int | None) -> Iterator[GradientEvent]:
        story = self.story
        maker = story.maker_of_storage(storage)
        if maker is not None and maker.index in story.backwards:
            yield GradientEvent("a", maker)
        yield from (GradientEvent("a", story.calls[at]) for at in story.added_to.get(storage, ()))
        wrote = set()
        for call, _mutation in story.writes_to_storage.get(storage, ()):
            wrote.add(call.index)
            letter = _letter_of_write(call)
            if call.error is None and (letter in "cm" or call.callsite not in story.stepping):
                yield GradientEvent(letter, call)
        values = (call for call in story.given_memory(storage) if call.kind != "metadata" and call.looks_at_values)
        reads = [call for call in values if call.index not in wrote and not call.does("sets gradient")]
        yield from self._moves(leaf, [call.index for call in reads if call.kind != "view"])
        for call in reads:
            if call.index in story.stepping_calls:
                yield GradientEvent("s", call)
            elif call.kind == "view":
                yield GradientEvent("v", call)
            else:
                yield GradientEvent("r" if call.callsite is not None and call.callsite.direct else "q", call)

    def _moves(self, leaf: int | None, reads: list[int]) -> Iterator[GradientEvent]:
        """Yield the calls that moved a leaf after somebody had read its gradient, since the leaf was moved last."""
        last, place = -1, 0
        for call in self._moving(leaf) if leaf is not None else ():
            while place < len(reads) and reads[place] <= last:
                place += 1
            if place < len(reads) and reads[place] <= call.index and call.index not in self.story.stepping_calls:
                yield GradientEvent("s", call)
            last = call.index


def _letter_of_write(call: CallEvent) -> Letter:
    if call.does("zeroes") or call.does("fills") or call.does("overwrites"):
        return "c"
    return "m" if call.does("assigns") else "x" if call.does("scales") else "e"
