"""Calls that normalise by running statistics: which they take in, and which they only read.

Told from the record: a call that wrote memory which is not trained, besides its first input, and gave a new tensor took
a batch in. Any call of that operation that got the same number of tensors and wrote none read such memory at those
places.
"""

from __future__ import annotations

from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent


@dataclass(frozen=True, slots=True)
class Normalised:
    """One call that normalises."""

    call: CallEvent
    statistics: tuple[int, ...]
    """The memories of the running statistics, in the order of the inputs."""
    weights: tuple[int, ...]
    """Those of what it got after them: the scale and the shift."""
    takes_in: bool
    """Whether it moved the statistics, as in training."""


def normalising_calls(story: Story) -> list[Normalised]:
    """All of them, in the order of the calls."""
    places: dict[tuple[str, int], tuple[int, ...]] = {}
    for call in story.in_place:
        found = _places_written(call)
        if found:
            places.setdefault((call.name, len(call.inputs)), found)
    if not places:
        return []
    known = ((call, places.get((call.name, len(call.inputs)))) for call in story.trace.calls)
    return [made for call, at in known if at is not None and (made := _normalised(call, at)) is not None]


def _places_written(call: CallEvent) -> tuple[int, ...]:
    """Where among its inputs a call got the memory that it moved."""
    if call.error is not None or len(call.inputs) < 2 or not call.outputs:  # the first input is what it normalises
        return ()
    given = call.inputs[0]
    made = call.outputs[0]
    if (
        made.storage == given.storage
        or made.shape != given.shape
        or made.storage in {meta.storage for meta in call.inputs}
    ):
        return ()
    written = {mutation.storage for mutation in call.mutations}
    places = tuple(at for at, meta in enumerate(call.inputs) if at and meta.storage in written)
    own = given.storage not in written and not any(call.inputs[at].requires_grad for at in places)
    return places if own else ()


def _normalised(call: CallEvent, places: tuple[int, ...]) -> Normalised | None:
    if call.error is not None or not call.outputs:
        return None
    storages = tuple(meta.storage for meta in call.inputs)
    if any(storage is None for storage in storages):
        return None
    behind = range(max(places) + 1, len(storages))
    return Normalised(
        call,
        statistics=tuple(storages[at] or 0 for at in places),
        weights=tuple(storages[at] or 0 for at in behind),
        takes_in=bool(call.mutations),
    )
