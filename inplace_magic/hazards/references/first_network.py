"""``total = nets[0].state_dict()``, ``total[key] += share``: a sum of networks becomes the first one's weights.

``state_dict`` copies nothing. That the first network was to stay one of several, the record says: one expression runs
it as it runs another one whose weights were added. An average that is kept in place is scaled as well, and is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.first_entries import FirstEntryWritten
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

_FEWEST = 2
"""Other networks; of one, an average, or a merged part, is added to another one as well."""
_READS = 256
"""Reads of a parameter that are looked at."""


@dataclass
class _Sum:
    """What a line added to the memory of a parameter, with nothing else between."""

    calls: list[CallEvent] = field(default_factory=list)
    added: dict[int, int] = field(default_factory=dict)
    """Memory of another parameter: the call that added it."""


def first_networks_summed(story: Story) -> Iterator[FirstEntryWritten]:
    """Yields one for each line that adds."""
    told: set[Callsite] = set()
    trained = _parameters(story)
    for storage, parameter in trained.items():
        for site, found in _sums(story, storage, trained):
            begun = _taken_before(story, found.calls[0], site)
            if site in told or begun is None or len(found.added) < _FEWEST:
                continue
            read = _run_alike(story, storage, parameter, found, trained)
            if read is not None:
                told.add(site)
                first, tensor = found.calls[0], found.calls[0].mutations[0].tensor
                yield FirstEntryWritten(first, tensor, begun.statement, begun.statement, None, read)


def _parameters(story: Story) -> dict[int, int]:
    """A trained leaf, by its memory."""
    found = {meta.storage: tensor for tensor, meta in story.observations.items() if meta.is_trainable}
    return {storage: tensor for storage, tensor in found.items() if storage is not None}


def _sums(story: Story, storage: int, trained: dict[int, int]) -> Iterator[tuple[Callsite, _Sum]]:
    site, found = None, _Sum()
    for call, mutation in story.writes_to_storage.get(storage, ()):
        others: list[int | None] = []
        plain = mutation.tensor != trained[storage] and call.does("shifts") and call.does("adds")
        if plain:
            others = [meta.storage for meta in call.inputs if meta.storage != storage]
            plain = len(others) == 1 and others[0] in trained and not call.does("subtracts or divides")
        if not plain and site is None:
            continue  # as nearly always
        if not plain or call.callsite != site:
            if site is not None and found.calls:
                yield site, found
            site, found = call.callsite if plain else None, _Sum()
        if plain and others[0] is not None:
            found.calls.append(call)
            found.added[others[0]] = call.index
    if site is not None and found.calls:
        yield site, found


def _taken_before(story: Story, call: CallEvent, site: Callsite) -> Callsite | None:
    """Where another statement took what the line writes, as a view of the parameter."""
    made = story.innermost_new(call.mutations[0].tensor, call.index)
    place = made.callsite if made is not None and made.kind == "view" else None
    return None if place is None or place.same_statement(site) else place


def _run_alike(story: Story, storage: int, parameter: int, found: _Sum, trained: dict[int, int]) -> CallEvent | None:
    """A call that gets the parameter after the sum is made, where the same expression gets one of the others."""
    last = found.calls[-1].index
    until = next((write.at for write in story.writes_to_memory(storage) if write.at > last), len(story.trace.calls))
    mine = {_way(read, parameter): read for read in islice(story.given_between(parameter, last, until), _READS)}
    for other, since in found.added.items() if mine else ():
        for each in islice(story.given_between(trained[other], last, len(story.trace.calls)), _READS):
            read = mine.get(_way(each, trained[other]))
            if read is not None and read.looks_at_values and not read.mutations:
                return None if story.is_written_between(other, since, read.index) else read
    return None


def _way(read: CallEvent, tensor: int) -> tuple[Callsite | None, str, tuple[int, ...]]:
    """By which expression, of which operation, and as which of its operands a call got a tensor."""
    places = tuple(place for place, meta in enumerate(read.inputs) if meta.tensor == tensor)
    return read.callsite, read.name, places
