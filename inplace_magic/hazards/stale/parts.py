"""A tensor and a part of it, or a second tensor on its memory, that a line takes for values of its own.

``first = x[0]`` and ``kept.append(x.detach())`` copy nothing. Two rows: the memory was written, and what was taken is
read as if it were old; and what was taken was written and used as new values, and the rest of the program reads the
memory as if nobody had.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.of_origin import copied_where_taken
from inplace_magic.hazards.references.engine import (
    Reference,
    Stale,
    began_as_a_buffer,
    first_of_each_line,
    gone_stale,
    is_there_to_be_written,
)
from inplace_magic.hazards.references.handed import is_called_alone
from inplace_magic.hazards.references.origins import builds_on_itself, is_of
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.paths import is_entry
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import level, paths_in, paths_read
from inplace_magic.source.spots import spot_of

_MOST = 64
"""Writes of the memory that are looked at for each part."""
_NEAR = 16
"""Calls within one statement, at most, after which it writes."""
_STEPS = 16
"""Writes after weights were kept that are looked at: a step makes a few, and one step is enough."""


def moved(story: Story) -> Iterator[Stale]:
    """Yields the parts that are read after the memory was written by way of another tensor."""
    return gone_stale(story, _taken(story), partial(_is_written, story), partial(_read_as_old, story), most=_MOST)


def _taken(story: Story) -> Iterator[Reference]:
    """Yield the parts and detached tensors that a statement keeps under a name, or in a list or dict; parts in a list
    only where the statement takes the same elements again, as of a buffer that is filled anew each time."""
    last: dict[tuple[object, ...], Reference] = {}
    for call in story.views:
        site = call.callsite.handed_to if call.callsite is not None else None
        targets = site.targets if site is not None else None
        if site is None or not targets or len(targets) != 1 or targets[0] is None or not _is_part(call):
            continue
        kept, name = call.outputs[0], targets[0]
        until = story.given_to[kept.tensor][-1].index if kept.tensor in story.given_to else call.index
        reference = Reference(kept.tensor, kept.storage, call.index, site, name, region_of(kept), until)
        if kept.is_trainable:
            continue
        best = "." in name and not began_as_a_buffer(story, kept.storage) and _is_the_best_so_far(story, site)
        if name.isidentifier() or call.does("may hand back") or best:
            yield reference
        elif is_entry(name):
            key = site, kept.storage, reference.region
            if key in last:
                yield last[key]
            last[key] = reference


def _is_part(view: CallEvent) -> bool:
    """True if a call gave fewer elements of a tensor, or another tensor that many take for a copy. A reshaped tensor is
    the whole in another form."""
    if len(view.outputs) != 1 or not view.inputs or view.outputs[0].tensor == view.inputs[0].tensor:
        return False
    part, whole = view.outputs[0], view.inputs[0]
    smaller = (part.nbytes or 0) < (whole.nbytes or 0)
    return part.storage == whole.storage and not whole.is_trainable and (smaller or view.does("may hand back"))


def _is_written(story: Story, kept: Reference, write: Write) -> bool:
    call, mutation = write.call, write.mutation
    if call is None or mutation is None or mutation.tensor == kept.tensor or is_there_to_be_written(story, mutation):
        return False
    if not may_meet(kept.region, write.reach):
        return False
    if not kept.holder.isidentifier():
        return True
    at = level(write.site, kept.place) if kept.place is not None else None
    own = at is not None and at.same_run(kept.place) and builds_on_itself(story, call, mutation)
    return own and story.bindings.written_path(call, mutation.tensor) != kept.holder


def _is_a_value(story: Story, kept: Reference, write: Write, read: CallEvent) -> bool:
    """True if a name serves to change the memory, as ``x *= first / (first - last)`` and ``x /= diagonal`` do, or was
    given to the best so far. Else, what is read may be there to follow: a leader, a row that is tried again."""
    name, place = kept.holder, kept.place
    if place is None or _is_the_best_so_far(story, place):
        return True
    writes = (each.site for each in story.writes_between(kept.storage, write.at - 1, read.index + _NEAR + 1))
    changes = [
        site for site in writes if site is not None and (site is write.site or site.same_statement(read.callsite))
    ]
    return any(site.same_run(place) and name in paths_in(site.statement) for site in changes)


def _read_as_old(story: Story, kept: Reference, write: Write) -> CallEvent | None:
    """Return the first read after the write; of a local name, by it and in the same run of the function. Of an entry,
    it must be the first read at all: what was read before may be done with."""
    name, place = kept.holder, kept.place
    for read in story.given_to.get(kept.tensor, ()):
        site = read.callsite
        early = read.index <= write.at
        if early and is_entry(name):
            return None
        if early or read.mutated or not read.looks_at_values or site is None or site.same_statement(write.site):
            continue
        if place is None or not name.isidentifier():
            return read
        at = level(site, place)
        if at is not None and at.same_run(place) and name in paths_read(site, place):
            held = story.bindings.bound_last(place.function, name, read.index)
            stands = held is None or held[1] == kept.tensor
            return read if stands and _is_a_value(story, kept, write, read) else None
    return None


def weights_moved_on(story: Story) -> Iterator[Stale]:
    """Yield the weights that were kept as the best so far, ``best = model.state_dict()``, and read after training moved
    them on. Whoever keeps weights at another moment may want to follow them."""

    def is_moved(kept: Reference, write: Write) -> bool:
        own = write.mutation is None or write.mutation.tensor == kept.tensor
        return not own and may_meet(kept.region, write.reach)

    return gone_stale(story, _weights_kept(story), is_moved, partial(_read_elsewhere, story), most=_STEPS)


def _weights_kept(story: Story) -> Iterator[Reference]:
    is_best = lru_cache(None)(lambda site: any(_is_the_best_so_far(story, place) for place in site.chain))
    for call in story.doing("detached"):
        site, kept = call.callsite, call.outputs[0] if call.outputs else None
        if site is None or kept is None or not call.inputs[0].is_trainable or kept.tensor in story.writes_to_tensor:
            continue
        if is_best(site):
            yield Reference(kept.tensor, kept.storage, call.index, site, region=region_of(kept))


def _read_elsewhere(story: Story, kept: Reference, write: Write) -> CallEvent | None:
    """Return the first read after a write in another statement than that which kept the tensor; of a copy onto itself
    see `same-memory-compared`."""
    for call in story.given_between(kept.tensor, write.at, len(story.trace.calls)):
        reads = (call.looks_at_values or call.does("gives address")) and call.kind != "view"
        onto_itself = call.does("copies in") and call.inputs[0].storage == kept.storage
        if reads and not onto_itself and call.callsite is not None and not call.callsite.same_statement(kept.place):
            return call
    return None


def _is_the_best_so_far(story: Story, site: Callsite) -> bool:
    spot = spot_of(story.trace, site)
    return spot is not None and spot.keeps_the_best


def part_written(story: Story) -> Iterator[Found]:
    """Yield the first write of each line that changed a part on top of itself and used it as new values, while the
    whole is read."""
    return first_of_each_line(story.in_place, partial(_part_written, story))


def _part_written(story: Story, call: CallEvent, mutation: Mutation) -> Found | None:
    site, taken = call.callsite, story.view_of(mutation.tensor, call.index)
    if site is None or taken is None or taken.callsite is None or not _is_part(taken):
        return None
    alone = site.caller is not None and is_called_alone(site.caller)
    if alone or taken.callsite.same_statement(site) or not _is_taken_for_values(story, call, mutation):
        return None
    read = _read_of_both(story, call, mutation, site)
    part, whole = story.bindings.written_path(call, mutation.tensor), story.bindings.name(taken.inputs[0].tensor)
    words = {
        "part": part or "",
        "whole": f"`{whole}`" if whole else _("a tensor"),
        "code": wording.code(taken.callsite.expression),
    }
    found = Found({"write": call, "read": read, "taken": taken}, mutation.tensor, part, words)
    return found if read is not None else None


def _is_taken_for_values(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """True if a line has a name for a part and builds on it, and nobody made the memory to be written; where trained
    leaves lie in it, as `vector_to_parameters` puts them there, a network follows it."""
    meant = began_as_a_buffer(story, mutation.storage) or mutation.storage in story.trained_memories
    named = story.bindings.written_path(call, mutation.tensor) is not None
    return (
        named and not meant and not is_there_to_be_written(story, mutation) and builds_on_itself(story, call, mutation)
    )


def _read_of_both(story: Story, call: CallEvent, mutation: Mutation, site: Callsite) -> CallEvent | None:
    """Return the first read of the written elements that does not go by what was taken, where another one does."""
    name, reach = story.bindings.written_path(call, mutation.tensor), reach_of_write(call, mutation)
    used, read = False, None
    for later in story.given_memory(mutation.storage):
        place = later.callsite
        values = later.index > call.index and later.looks_at_values and later.kind != "view" and not later.mutated
        if not values or place is None or place.same_statement(site):
            continue
        for given in later.inputs:
            if given.storage != mutation.storage:
                continue
            if is_of(story, given.tensor, (mutation.tensor,), later.index):
                used = True
            elif read is None and may_meet(region_of(given), reach):
                by_it = place.same_function(site) and name in paths_read(place, site)
                read = None if by_it else later
        if used and read is not None:
            return read
    return None


RULES = rules_of(
    Row(
        "part-written",
        "warning",
        part_written,
        Calls(write="write", origin="taken"),
        message=N_(
            "{write} changes `{part}`, which shares the memory of {whole} ({code} copied nothing), and {read} "
            "reads the changed values there. PyTorch gives no error."
        ),
        fix=N_("Change a copy: append `.clone()` to {code}, or compute a new tensor."),
        ways=(copied_where_taken,),
        gives_way=True,
    ),
)
