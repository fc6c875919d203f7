"""Several slots of a list or dict held the tensor at the moment when a line wrote it by way of that list or dict.

``dict.fromkeys(names, t)`` and ``[[t] * 3 for _ in rows]`` repeat a reference. Which slots held the tensor just then is
seen (:class:`~inplace_magic.record.names.Holding`), whatever they hold at the end.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.objects.slots import reads_through
from inplace_magic.hazards.references.objects.two_slots import is_said_to_be_one
from inplace_magic.hazards.references.objects.ways import is_on, level_of
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.references.owners import Owned, owners_of
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import Holding
from inplace_magic.record.paths import (
    before_first_step,
    before_last_step,
    entries_in,
    has_plain_keys,
    is_entry,
    without_keys,
)
from inplace_magic.source import expressions
from inplace_magic.source.chains import paths_in
from inplace_magic.source.listing import whole_listing
from inplace_magic.source.variables import mentions

_LATER = 64
"""Calls after a write that are asked by which slot they read."""


def slots_at_the_write(story: Story, call: CallEvent, mutation: Mutation) -> tuple[str, str] | None:
    """Two slots of one list or dict that held the written tensor when a line wrote it by the one, or in each pass of a
    loop over all, where it is read by another one later."""
    held = [h for h in story.holdings.get(call.index, ()) if is_on(story, h.tensor, mutation)]
    if len(held) < 2 or call.callsite is None or _may_be_shared(story, mutation):
        return None
    for owned in owners_of(story, call, mutation, story.bindings.written_path(call, mutation.tensor)):
        level = level_of(call.callsite, owned.site)
        for container, slots in _several([each for each in held if each.level == level]):
            said = owned.path if without_keys(owned.path) == without_keys(slots[0].path) else None
            several = said is not None or _is_gone_through(story, call, mutation, owned, container, held, slots)
            if several and _is_read_by_another(story, call, mutation, owned, container, said):
                one = said if said in {slot.path for slot in slots} else slots[0].path
                other = next(slot.path for slot in slots if slot.path != one)
                return f"`{one}`", f"`{other}`"
    return None


def are_meant_as_one(story: Story, tensor: int, slots: tuple[str, str], write: CallEvent) -> bool:
    """Whether two slots may well hold one tensor: another function gives one of them what the other holds, as
    ``store["latest"] = store["now"]`` in ``__init__`` does; or both name a tensor that has a place of its own."""
    (before, one), (other_before, other) = (before_last_step(slot.strip("`")) for slot in slots)
    said = before == other_before and is_said_to_be_one(story, one, other, but_in=write.callsite)
    return said or is_filed_elsewhere(story, tensor, write)


def is_filed_elsewhere(story: Story, tensor: int, write: CallEvent | None) -> bool:
    """Whether the slots of a list held a tensor before anybody wrote it, and another list or dict held it as well:
    ``rows = [table[word] for word in text]`` names it by that other one, and to write it twice counts it twice."""
    first = next((call for call, _ in story.writes_to_tensor.get(tensor, ()) if call.index in story.holdings), write)
    held = [h for h in story.holdings.get(first.index, ()) if h.tensor == tensor] if first is not None else []
    held = [holding for holding in held if is_entry(holding.path)]
    at_the_end = Counter(before_first_step(name)[0] for name in story.names.get(tensor, ()) if is_entry(name))
    for root in {before_first_step(holding.path)[0] for holding in held}:
        inside = [holding for holding in held if before_first_step(holding.path)[0] == root]
        objects = {holding.object for holding in inside}
        if len({holding.path for holding in inside}) < 2:
            continue
        in_sight = any(holding.object not in objects for holding in held)
        others = at_the_end.keys() - {before_first_step(holding.path)[0] for holding in held}
        if in_sight or any(at_the_end[other] == 1 for other in others):
            return True
    return False


def _may_be_shared(story: Story, mutation: Mutation) -> bool:
    """Whether it is a leaf that is trained, which one may well tie, or a gradient."""
    return mutation.storage in story.trained_memories or story.is_gradient(mutation)


def _several(held: list[Holding]) -> Iterator[tuple[str, list[Holding]]]:
    """(container, slots) for what holds one tensor, or one object around it, more than once: ``states`` with
    ``states[0][1]`` and ``states[2][1]``. What holds several objects around it is not told of: they may have got it."""
    found: dict[tuple[int, str, str], list[Holding]] = {}
    for holding in held:
        for container, below in entries_in(holding.path):
            found.setdefault((holding.tensor, container, below), []).append(holding)
    for (_tensor, container, _below), slots in found.items():
        one_object = is_entry(slots[0].path) or len({slot.object for slot in slots}) == 1
        if one_object and len({slot.path for slot in slots}) > 1:
            yield container, slots


def _is_gone_through(
    story: Story,
    call: CallEvent,
    mutation: Mutation,
    owned: Owned,
    container: str,
    held: list[Holding],
    slots: list[Holding],
) -> bool:
    """Whether a line writes the tensor in several passes of a loop over the container, each time on top of the last,
    and nothing else holds it: who goes through ``[counts[word] for word in text]`` means to count a word twice."""
    objects = {slot.object for slot in slots}
    writes = (each for each, _ in story.writes_to_storage.get(mutation.storage or 0, ()) if each.index < call.index)
    if any(each.object not in objects for each in held) or not builds_on_itself(story, call, mutation):
        return False
    if not any(each.callsite == call.callsite for each in writes):
        return False
    listing, root = whole_listing(story.trace, owned.site), before_first_step(owned.path)[0]
    statement = listing.statement_at(owned.site) if listing is not None else None
    for loop in listing.around(statement) if listing is not None and statement is not None else ():
        if isinstance(loop, (ast.For, ast.AsyncFor)) and mentions(loop.target, root):
            over = (expressions.path_text(node) for node in ast.walk(loop.iter) if isinstance(node, ast.expr))
            return container in over
    return False


def _is_read_by_another(
    story: Story, call: CallEvent, mutation: Mutation, owned: Owned, container: str, said: str | None
) -> bool:
    """Whether a later line goes to the tensor by the container, and not by the one slot that was written alone."""
    one_slot = said is not None and has_plain_keys(said)
    later = [each for each in story.given_memory(mutation.storage) if each.index > call.index][:_LATER]
    for each in later:
        if not each.looks_at_values or each.callsite is None or each.callsite.same_line(call.callsite):
            continue
        places = [place for place in each.callsite.chain if place.same_function(owned.site)]
        slots = {path for place in places for path in paths_in(place.statement) if path.startswith(f"{container}[")}
        if one_slot and slots and all(path == said or path.startswith((f"{said}[", f"{said}.")) for path in slots):
            continue
        if slots or reads_through(story, each.callsite, container):
            return True
    return False
