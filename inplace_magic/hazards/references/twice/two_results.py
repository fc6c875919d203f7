"""Two names of one function for the results of two calls, which were one tensor, as a pool of buffers gives them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.rereading import reads_it_as
from inplace_magic.record.events import CallEvent
from inplace_magic.record.names import Binding
from inplace_magic.source.chains import paths_in
from inplace_magic.source.listing import Listing, whole_listing
from inplace_magic.source.statements import spans
from inplace_magic.source.variables import mentions

_MOST_NAMES = 8
"""Names of one tensor that are held against each other, the first ones."""


@dataclass(frozen=True)
class TwoResults:
    """The second call overwrote what the first one had given, which was read by its name after that."""

    tensor: int
    first: str
    second: str
    write: Write
    read: CallEvent


def results_of_one_memory(story: Story) -> Iterator[TwoResults]:
    """Yields one for each pair of names in a function that a call of it read after the overwriting."""
    groups: dict[tuple[str, int | None, str | None, int], list[Binding]] = {}
    for binding in story.trace.bindings:
        place = binding.place
        if place.function != "<module>" and binding.target.isidentifier():
            groups.setdefault((place.function, place.cell, place.file, binding.tensor), []).append(binding)
    for (function, _cell, _file, tensor), bindings in groups.items():
        meta = story.observations.get(tensor)
        if len({binding.target for binding in bindings}) < 2 or meta is None or meta.is_trainable:
            continue
        since, until = min(binding.call for binding in bindings), max(binding.call for binding in bindings)
        if not story.is_written_between(meta.storage, since, until + 1):
            continue
        listing = whole_listing(story.trace, bindings[0].place)
        if listing is None:
            continue
        pairs = ((binding, _statement(listing, function, binding)) for binding in bindings)
        known = [(binding, statement) for binding, statement in pairs if statement is not None]
        known.sort(key=lambda entry: entry[1].lineno)
        for (one, first), (other, second) in combinations(known[:_MOST_NAMES], 2):
            apart = first is not second and not mentions(second.value, one.target)
            if apart and _same_block(listing, first, second):
                found = _overwritten(story, tensor, one, other, second)
                if found is not None:
                    yield TwoResults(tensor, one.target, other.target, *found)


def _statement(listing: Listing, function: str, binding: Binding) -> ast.Assign | None:
    """The one statement of a function that binds a name, where it binds it to what a call gives."""
    nodes = listing.functions.get(function.rpartition(".")[2], ())
    line, names = binding.place.line, listing.stores.get(binding.target, ())
    within = [node for node in nodes if spans(node, line)]
    stores = [name for name in names if within and listing.scope_of(name) is within[-1]]
    statement = listing.statement_on(stores[0].lineno) if len(stores) == 1 else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    return statement if statement.targets == stores else None


def _same_block(listing: Listing, first: ast.stmt, second: ast.stmt) -> bool:
    return any(entry is first for entry in listing.block_of(second))


def _overwritten(
    story: Story, tensor: int, one: Binding, other: Binding, second: ast.Assign
) -> tuple[Write, CallEvent] | None:
    """The write that the second statement made, and the first call after it that reads by the first name."""
    meta = story.observations[tensor]
    end = second.end_lineno or second.lineno
    for write in story.writes_to_memory(meta.storage):
        chain = write.site.chain if write.site is not None and one.call < write.at <= other.call else ()
        place = next((each for each in chain if each.same_function(other.place)), None)
        if place is None or not second.lineno <= place.line <= end:
            continue
        for read in story.given_to.get(tensor, ()):
            site = read.callsite
            if read.index <= write.at or site is None or not site.same_run(place) or site.line <= end:
                continue
            if read.kind != "in-place" and one.target in paths_in(site.expression):
                return (write, read) if reads_it_as(read, site, tensor, one.target) else None
    return None
