"""The search behind rules of ``stale`` and ``shared``: somebody holds a tensor, it is written, it is read as if old.

Take ``top = x[0]``, then ``x[0] += 1``, then ``y * top``. The first statement makes a :class:`Reference` (`top`, these
elements, since that call), the second writes the elements another way, and the third reads `top`: together they are
:class:`Stale`. A rule is a row: which references there are, which writes count, and which read tells. Where a reference
outlives a run, as a default argument does, the read is the next write that builds on the old values: :class:`Again`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.record.events import CallEvent, Mutation, Region
from inplace_magic.record.places import Callsite

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Reference:
    """Somebody holds a tensor."""

    tensor: int
    storage: int | None
    since: int
    """Index of the call from which on."""
    place: Callsite | None
    """Where it was taken."""
    holder: str = ""
    """``top``, ``kept["pre"]``; empty where it has no name, or the name is not known."""
    region: Region | None = None
    """Its elements; None: all of the memory, or unknown ones."""
    until: int | None = None
    """Index of the last call that reads it; None: not known."""


@dataclass(frozen=True, slots=True)
class Stale:
    """A reference that was written behind its back, and read after that."""

    reference: Reference
    write: Write
    read: CallEvent


def is_there_to_be_written(story: Story, mutation: Mutation) -> bool:
    """True if a write meets a trained leaf or a gradient, which are there to be updated."""
    meta = story.observations.get(mutation.tensor)
    return meta is None or meta.is_trainable or story.is_gradient(mutation)


def began_as_a_buffer(story: Story, storage: int | None) -> bool:
    """True if a memory was made to be filled: ``torch.zeros``, ``empty``."""
    maker = story.maker_of_storage(storage)
    return maker is not None and maker.does("buffer")


def writes_of(calls: Iterable[CallEvent]) -> Iterator[tuple[CallEvent, Mutation]]:
    """Yield what calls wrote that have a place and came to their end."""
    for call in calls:
        if call.callsite is not None and call.error is None:
            yield from ((call, mutation) for mutation in call.mutations)


def first_of_each_line(
    calls: Iterable[CallEvent], find: Callable[[CallEvent, Mutation], Made | None]
) -> Iterator[Made]:
    """Yield for each line what is found of the first of its writes of which anything is found."""
    told: set[object] = set()
    for call, mutation in writes_of(calls):
        line = line_key(call.callsite)
        found = find(call, mutation) if line not in told else None
        if found is not None:
            told.add(line)
            yield found


def gone_stale(
    story: Story,
    references: Iterable[Reference],
    written: Callable[[Reference, Write], bool],
    read: Callable[[Reference, Write], CallEvent | None],
    *,
    most: int | None = None,
) -> Iterator[Stale]:
    """Yields one for each writing place.

    Args:
        story: the trace.
        references: who holds what.
        written: whether a write of the memory since then counts.
        read: the call that reads by the reference what that write left.
        most: look at so many writes of a reference.
    """
    told: set[Callsite | None] = set()
    for reference in references:
        for write in islice(story.writes_between(reference.storage, reference.since), most):
            if reference.until is not None and reference.until <= write.at:
                break
            if not written(reference, write):
                continue
            found = read(reference, write)
            if found is not None:
                if write.site not in told:
                    told.add(write.site)
                    yield Stale(reference, write, found)
                break


Again = tuple[CallEvent, Callsite, int, Callsite]
"""The call by which a line has written some elements for a second holder, on top of what it had left for the first one;
its place, the written tensor, and the place of the write for the first one."""


def written_again(
    story: Story, writes: Iterable[tuple[CallEvent, Mutation, Hashable]], *, by_tensor: bool = False
) -> Iterator[Again]:
    """Yield one for each place and the elements that it writes, where that builds on the old values.

    Args:
        story: the trace.
        writes: what calls wrote, each with for whom, such as an object or a caller.
        by_tensor: whether the elements count only by way of the same tensor.
    """
    first: dict[tuple[object, ...], tuple[Hashable, Callsite]] = {}
    told: set[tuple[object, ...]] = set()
    for call, mutation, holder in writes:
        site, elements = call.callsite, (mutation.tensor,) if by_tensor else _elements(call, mutation)
        if site is None or (site, *elements) in told or not builds_on_itself(story, call, mutation):
            continue
        before, place = first.setdefault((*line_key(site), *elements), (holder, site))
        if before != holder:
            told.add((site, *elements))
            yield call, site, mutation.tensor, place


def written_for_two(story: Story) -> Iterator[Again]:
    """Yield what a method writes for one object on top of what it has left for another one."""
    known = ((story.calls[entry.call], entry.object) for entry in story.trace.methods if entry.call in story.calls)
    writes = ((call, mutation, of) for call, of in known if call.error is None for mutation in call.mutations)
    state = (write for write in writes if not is_there_to_be_written(story, write[1]))
    return written_again(story, state, by_tensor=True)


def _elements(call: CallEvent, mutation: Mutation) -> tuple[object, ...]:
    """Return the elements of a written tensor, by whichever tensor they were reached: ``total[0] += 1`` and
    ``total.detach()`` make a new one each time."""
    after = next((meta for meta in call.mutated if meta.tensor == mutation.tensor), None)
    region = region_of(after) if after is not None else None
    known = mutation.storage is not None and region is not None
    return (mutation.storage, region) if known else (mutation.tensor,)
