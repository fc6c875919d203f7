"""The search behind rules of ``stale`` and ``shared``: somebody holds a tensor, it is written, it is read as if old.

Take ``top = x[0]``, then ``x[0] += 1``, then ``y * top``. The first statement makes a :class:`Reference` (`top`, these
elements, since that call), the second writes the elements another way, and the third reads `top`: together they are
:class:`Stale`. A rule is a row: which references there are, which writes count, and which read tells. Where a reference
outlives a run, as a default argument does, the read is the next write that builds on the old values: :class:`Again`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.record.events import CallEvent, Mutation, Region
from inplace_magic.record.places import Callsite


@dataclass(frozen=True, slots=True)
class Reference:
    """Somebody holds a tensor."""

    tensor: int
    storage: int | None
    since: int
    """Index of the call from which on."""
    place: Callsite | None
    """Where it was taken."""
    holder: str | None = None
    """``top``, ``kept["pre"]``; None where it has no name, or the name is not known."""
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


def writes_of(calls: Iterable[CallEvent], told: Set[object]) -> Iterator[tuple[CallEvent, Mutation]]:
    """Yield what calls wrote that came to their end, but for lines of which enough is known.

    Args:
        calls: the calls.
        told: the lines, by their :func:`line_key`; it may grow meanwhile.
    """
    for call in calls:
        if call.callsite is not None and call.error is None:
            for mutation in call.mutations:
                if line_key(call.callsite) not in told:
                    yield call, mutation


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


Holder = TypeVar("Holder")


@dataclass(frozen=True, slots=True)
class Again(Generic[Holder]):
    """A line has written one tensor for a second holder, on top of what it had left for the first."""

    call: CallEvent
    site: Callsite
    tensor: int
    before: Holder
    now: Holder


def written_again(story: Story, holder: Callable[[CallEvent, Callsite, int], Holder | None]) -> Iterator[Again[Holder]]:
    """Yields one for each line in a function whose writes build on the old values.

    Args:
        story: the trace.
        holder: for whom a line writes a tensor, as an object or a caller; None where that does not count.
    """
    first: dict[tuple[object, ...], Holder] = {}
    told: set[tuple[object, ...]] = set()
    for call, mutation, earlier in story.writes_counted:
        site = call.callsite
        if earlier or site is None or site.caller is None:
            continue  # most writes of a loop end here
        line = line_key(site)
        if line in told:
            continue
        now = holder(call, site, mutation.tensor) if builds_on_itself(story, call, mutation) else None
        before = first.setdefault((*line, *_elements(call, mutation)), now) if now is not None else None
        if now is not None and before is not None and before != now:
            told.add(line)
            yield Again(call, site, mutation.tensor, before, now)


class ForObject(NamedTuple):
    """Whose method wrote, and who called it."""

    object: int
    """By a serial number of its own."""
    caller: Callsite | None


def written_for_two(story: Story) -> Iterator[Again[ForObject]]:
    """Yield one for each place in a method, and each tensor that it writes for one object on top of what it has left
    for another one."""
    first: dict[tuple[object, ...], ForObject] = {}
    told: set[tuple[Callsite, int]] = set()
    for entry in story.trace.methods:
        call = story.calls.get(entry.call)
        site = call.callsite if call is not None else None
        if call is None or site is None or call.error is not None:
            continue
        for mutation in call.mutations if all(builds_on_itself(story, call, each) for each in call.mutations) else ():
            now = ForObject(entry.object, site.caller)
            before = first.setdefault((*line_key(site), mutation.tensor), now)
            again = before.object != now.object and (site, mutation.tensor) not in told
            if again and not is_there_to_be_written(story, mutation):
                told.add((site, mutation.tensor))
                yield Again(call, site, mutation.tensor, before, now)


def _elements(call: CallEvent, mutation: Mutation) -> tuple[object, ...]:
    """Return the elements of a written tensor, by whichever tensor they were reached: ``total[0] += 1`` and
    ``total.detach()`` make a new one each time."""
    after = next((meta for meta in call.mutated if meta.tensor == mutation.tensor), None)
    region = region_of(after) if after is not None else None
    known = mutation.storage is not None and region is not None
    return (mutation.storage, region) if known else (mutation.tensor,)
