"""Where a list or dict of the user's keeps one tensor in several slots, who writes it there, and who reads it.

``curve.append(total)`` in a loop puts the same tensor into each slot as long as ``total`` is written in place. The
namespace shows at the end which slots hold it (``curve[0]``, ``replay[3][2]``, ``logs[1]["loss"]``); which ones did
when a line wrote the tensor was seen (:class:`~inplace_magic.record.names.Holding`): ``dict.fromkeys(names, t)`` and
``[[t] * 3 for _ in rows]`` repeat a reference, whatever the slots hold later.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from inplace_magic.analysis.ledger import Owned, owners_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.names import is_on, is_said_to_be_one, level_of
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.grouped import grouped
from inplace_magic.record.names import Holding
from inplace_magic.record.paths import (
    before_first_step,
    before_last_step,
    entries_in,
    has_plain_keys,
    is_entry,
    without_keys,
)
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import paths_in
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import listing_of
from inplace_magic.source.spots import Spot, spot_of

Two = tuple[str, str]
"""Two slots that are one tensor."""

_LATER = 64
"""Calls after a write that are asked by which slot they read."""
_COLLECTS = frozenset(("list", "tuple", "sorted", "deque", "collections.deque"))
"""What goes through an iterator and keeps each entry."""


def several_at_the_end(story: Story, tensor: int) -> dict[str, list[str]]:
    """Return the slots that hold a tensor, or an object around it, by the list or dict that has several of them:
    ``log["lr"]`` may have one at ``log["lr"][0]`` and ``log["lr"][3]``, and `clouds` at ``clouds[0].pos`` and
    ``clouds[1].pos``."""
    found = grouped((entry, name) for name in story.names.get(tensor, ()) for entry in entries_in(name))
    return {container: slots for (container, _below), slots in found.items() if container and len(slots) > 1}


def kept_and_read(story: Story, tensor: int) -> Two | None:
    """Return two slots that were filled one after the other with a tensor which was written again and again, where
    somebody reads them after the last write."""
    meta = story.observations.get(tensor)
    if meta is None or meta.is_trainable or len(story.writes_to_tensor.get(tensor, ())) < 2:
        return None  # a parameter may well stand twice in a list
    for container, slots in several_at_the_end(story, tensor).items():
        if _is_filled(story, container, slots, tensor) and _reads_another_slot(story, tensor, container):
            return f"`{slots[0]}`", f"`{slots[-1]}`"
    return None


def _is_filled(story: Story, container: str, slots: list[str], tensor: int) -> bool:
    """True if a statement stores into a list or dict one by one, or led to the last write; or one held the
    tensor when that was written again: a pair that is made of it afterwards means one tensor."""
    root, last = container.partition("[")[0].rpartition(".")[2], story.writes_to_tensor[tensor][-1][0].callsite
    stores = (alias.target.partition("[") for alias in story.trace.aliases)
    if any(entry and owner.rpartition(".")[2] == root for owner, entry, _rest in stores):
        return True
    held = [holding for holding in story.holdings_of.get(tensor, ()) if is_entry(holding.path)]
    together = Counter((holding.call, before_last_step(holding.path)[0]) for holding in held)
    if is_entry(slots[0]) and 1 in together.values():
        return True  # by one of its slots when the tensor was written, and by more afterwards
    return any(_list_filled(place) == container for place in (last.chain if last is not None else ()))


def _list_filled(site: Callsite) -> str | None:
    """Return the list of ``c = [f(i) for i in …]`` and ``c.append(f(i))``, for the place of ``f(i)``; that of ``c =
    list(loader)``, for the place of what is gone through."""
    statement, value = expressions.parse(site.statement), expressions.parse(site.expression)
    if isinstance(value, ast.Call) and path_text(value.func) in _COLLECTS and len(site.bound or ()) == 1:
        return (site.bound or ("",))[0]
    entry, name = None, None
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.ListComp):
        entry, name = statement.value.elt, path_text(statement.targets[0])
    elif isinstance(statement, ast.Call) and isinstance(statement.func, ast.Attribute) and len(statement.args) == 1:
        entry, name = statement.args[0], path_text(statement.func.value)
    return name if entry is not None and value is not None and ast.dump(entry) == ast.dump(value) else None


def slots_at_the_write(story: Story, call: CallEvent, mutation: Mutation) -> Two | None:
    """Return two slots of one list or dict that held the written tensor when a line wrote it by the one, or in each
    pass of a loop over all, where it is read by another one later."""
    held = [h for h in story.holdings.get(call.index, ()) if is_on(story, h.tensor, mutation)]
    if len(held) < 2 or call.callsite is None:
        return None
    if mutation.storage in story.trained_memories or story.is_gradient(mutation):
        return None  # one may well tie these
    for owned in owners_of(story, call, mutation):
        level = level_of(call.callsite, owned.site)
        for container, slots in _several([each for each in held if each.level == level]):
            said = owned.path if without_keys(owned.path) == without_keys(slots[0].path) else None
            several = said is not None or _is_gone_through(story, call, mutation, owned, container, held, slots)
            if several and _is_read_by_another(story, call, mutation, owned, container, said):
                one = said if said in {slot.path for slot in slots} else slots[0].path
                other = next(slot.path for slot in slots if slot.path != one)
                return f"`{one}`", f"`{other}`"
    return None


def _several(held: list[Holding]) -> Iterator[tuple[str, list[Holding]]]:
    """Yield (container, slots) for what holds one tensor, or one object around it, more than once: ``states`` with
    ``states[0][1]`` and ``states[2][1]``. What holds several objects around it is left out: they may have got it."""
    found = grouped(((holding.tensor, *entry), holding) for holding in held for entry in entries_in(holding.path))
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
    """True if a line writes the tensor in several passes of a loop over the container, each time on top of the
    last, and nothing else holds it: who goes through ``[counts[word] for word in text]`` means to count a word
    twice."""
    objects = {slot.object for slot in slots}
    writes = (each for each, _ in story.writes_to_storage.get(mutation.storage or 0, ()) if each.index < call.index)
    if any(each.object not in objects for each in held) or not builds_on_itself(story, call, mutation):
        return False
    if not any(each.callsite == call.callsite for each in writes):
        return False
    spot, root = spot_of(story.trace, owned.site), before_first_step(owned.path)[0]
    for loop in spot.loops if spot is not None else ():
        if not isinstance(loop, ast.While) and expressions.mentions(loop.target, root):
            over = (path_text(node) for node in ast.walk(loop.iter) if isinstance(node, ast.expr))
            return container in over
    return False


def _is_read_by_another(
    story: Story, call: CallEvent, mutation: Mutation, owned: Owned, container: str, said: str | None
) -> bool:
    """True if a later line goes to the tensor by the container, and not by the one slot that was written
    alone."""
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


def are_meant_as_one(story: Story, tensor: int, slots: Two, write: CallEvent) -> bool:
    """True if two slots may well hold one tensor: another function gives one of them what the other holds, as
    ``store["latest"] = store["now"]`` in ``__init__`` does; or both name a tensor that has a place of its own."""
    (before, one), (other_before, other) = (before_last_step(slot.strip("`")) for slot in slots)
    said = before == other_before and is_said_to_be_one(story, one, other, but_in=write.callsite)
    return said or is_filed_elsewhere(story, tensor, write)


def is_filed_elsewhere(story: Story, tensor: int, write: CallEvent | None) -> bool:
    """True if the slots of a list held a tensor before anybody wrote it, and another list or dict held it as
    well: ``rows = [table[word] for word in text]`` names it by that other one, and to write it twice counts it
    twice."""
    first = next((call for call, _ in story.writes_to_tensor.get(tensor, ()) if call.index in story.holdings), write)
    held = [h for h in story.holdings.get(first.index, ()) if h.tensor == tensor] if first is not None else []
    held = [holding for holding in held if is_entry(holding.path)]
    at_the_end = Counter(before_first_step(name)[0] for name in story.names.get(tensor, ()) if is_entry(name))
    roots = grouped((before_first_step(holding.path)[0], holding) for holding in held)
    has_a_place = any(at_the_end[other] == 1 for other in at_the_end.keys() - roots.keys())
    for inside in roots.values():
        objects, paths = {holding.object for holding in inside}, {holding.path for holding in inside}
        if len(paths) > 1 and (has_a_place or any(holding.object not in objects for holding in held)):
            return True
    return False


def _reads_another_slot(story: Story, tensor: int, container: str) -> bool:
    """True if somebody reads the container after the last write who does not just read each slot as soon as it
    is filled, like ``print(batches[-1])`` below ``batches.append(buffer)``; queries such as ``item()`` count."""
    writes = [write.index for write, _ in story.writes_to_tensor[tensor]]
    through = lru_cache(None)(lambda site: reads_through(story, site, container))
    reads = [read for read in story.given_to.get(tensor, ()) if read.index > writes[0] and through(read.callsite)]
    last = Counter(read.callsite for read in reads if read.index > writes[-1])
    before = {read.callsite for read in reads if read.index < writes[-1]}
    return any(times > 1 or place not in before for place, times in last.items())


def reads_through(story: Story, site: Callsite | None, container: str) -> bool:
    """True if a place or one of its callers says a container's name: in its statement, in the head of a loop around it,
    or where a name that it reads was bound, as `drawn` was by ``drawn = random.sample(self.buffer, 8)``."""
    last = container.partition("[")[0].rpartition(".")[2]
    parts = (part for place in (site.chain if site is not None else ()) for part in _parts_read_at(story, place))
    return any(names(node, last) for part in parts for node in ast.walk(part))


def _parts_read_at(story: Story, place: Callsite) -> Iterator[ast.AST]:
    listing = listing_of(story.trace, place)
    statement = listing.statement_at(place) if listing is not None else None
    if listing is None or statement is None:
        return
    spot = Spot(listing, statement)
    for part in (*(loop.iter for loop in spot.loops if not isinstance(loop, ast.While)), *read_parts(statement)):
        yield part
        for value in map(spot.value_of, expressions.variables_read(part)):
            only_counted = isinstance(value, ast.Call) and names(value.func, "len")
            if value is not None and not only_counted:
                yield value


def read_parts(statement: ast.stmt) -> list[ast.AST]:
    """Of a statement what it reads: of ``curve.append(x)`` only `x`, of ``kept[k] = x`` only `x`."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        stores = isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "insert", "extend", "appendleft")
        return [*call.args, *call.keywords] if stores else [call]
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        return [statement.value]
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With)):
        return []
    return [statement]


def names(node: ast.AST, name: str) -> bool:
    """True if a node is a variable or an attribute of that name."""
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)
