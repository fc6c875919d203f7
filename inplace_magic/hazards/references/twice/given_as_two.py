"""``one = drop_(x)``, ``two = drop_(x)``, ``return one, two``: a function gives one tensor as two results."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.twice.two_results import TwoResults
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source.listing import Listing, whole_listing
from inplace_magic.source.variables import mentions


def given_as_two(story: Story) -> Iterator[TwoResults]:
    """Yields one for each pair of statements of a function that bound what two writes of one tensor gave, where the
    function returns both names beside each other and the tensor is read outside of it."""
    first: dict[tuple[Callsite | None, str, int], tuple[str, Callsite]] = {}
    told: set[tuple[str | None, int | None, int]] = set()
    for call in story.in_place:
        bound = _bound(call)
        if bound is None or len(call.mutations) != 1:
            continue
        (name, place), tensor = bound, call.mutations[0].tensor
        known, at = first.setdefault((place.caller, place.function, tensor), bound)
        line = place.file, place.cell, place.line
        if known == name or not at.same_run(place) or line in told:
            continue
        told.add(line)
        read = _read_outside(story, tensor, call, place) if _gives_both(story, at, place, known, name) else None
        if read is not None:
            yield TwoResults(tensor, known, name, Write(None, None, call.index, call, call.mutations[0], place), read)


def _bound(call: CallEvent) -> tuple[str, Callsite] | None:
    """The name that a function's statement gives what a call wrote and gave back, and its place; also of a call in
    functions that return it."""
    place = call.callsite.handed_to if call.callsite is not None else None
    name = place.targets[0] if place is not None and place.targets and len(place.targets) == 1 else None
    if place is None or name is None or not name.isidentifier() or place.function == "<module>":
        return None
    meta = next(iter(call.mutations), None)
    if meta is None or call.error is not None or all(out.tensor != meta.tensor for out in call.outputs):
        return None
    return name, place


def _gives_both(story: Story, first: Callsite, second: Callsite, one: str, other: str) -> bool:
    """Whether two statements of one block bind the names, each alone, the second one says nothing of the first name,
    and the function returns both as two."""
    listing = whole_listing(story.trace, second)
    binds = [listing.statement_on(place.line) for place in (first, second)] if listing is not None else []
    if listing is None or not all(isinstance(node, ast.Assign) for node in binds):
        return False
    before, after = binds
    if not isinstance(after, ast.Assign) or all(node is not before for node in listing.block_of(after)):
        return False
    scope = listing.scope_of(after)
    for name in (one, other):
        if sum(listing.scope_of(node) is scope for node in listing.stores.get(name, ())) != 1:
            return False
    return not mentions(after.value, one) and _returns_both(listing, scope, {one, other})


def _returns_both(listing: Listing, scope: ast.AST, names: set[str]) -> bool:
    for node in ast.walk(scope):
        value = node.value if isinstance(node, ast.Return) and listing.scope_of(node) is scope else None
        entries = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        entries = value.values if isinstance(value, ast.Dict) else entries
        if names <= {entry.id for entry in entries if isinstance(entry, ast.Name)}:
            return True
    return False


def _read_outside(story: Story, tensor: int, write: CallEvent, place: Callsite) -> CallEvent | None:
    """The first call after a write that gets the tensor, if it reads it outside of the function."""
    for read in story.given_between(tensor, write.index, len(story.trace.calls)):
        if read.looks_at_values:
            inside = read.callsite is None or read.callsite.is_below_function(place)
            return None if inside or read.mutations else read
    return None
