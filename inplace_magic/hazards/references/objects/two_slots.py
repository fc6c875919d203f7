"""One tensor in two places that a program takes for two: two keys of one object, or two names bound by one statement.

``self.total = self.square = torch.zeros(n)`` and ``hidden, cell = zeros, zeros`` look like two tensors, and so does
what ``hidden, cell = begin()`` gives where `begin` returns one tensor twice. Nobody needs two places for one state: who
writes by both, and builds on what stands there, means two.

That both places held the tensor at one time is seen and not concluded: two buffers that change places (``self.now,
self.next = self.next, self.now``) are written under both names as well, but never held twice.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from inplace_magic.analysis.overlap import may_meet, reach_of_write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.objects.ways import is_on, level_of, way_to
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.references.owners import Owned, owners_of
from inplace_magic.record.events import CallEvent, Mutation, Region
from inplace_magic.record.paths import before_last_step
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, whole_listing
from inplace_magic.source.variables import variables_in

_MOST = 32
"""Writes of a memory by one line that are looked at."""


@dataclass(frozen=True)
class WrittenAsTwo:
    """A write by one place, on top of what a write by the other one had left."""

    first: CallEvent
    second: CallEvent
    tensor: int
    one: str
    """The place by which the first call wrote, as its line says it."""
    other: str


@dataclass(eq=False)
class _Pair:
    """What was written by two places of one tensor."""

    last: dict[str, tuple[CallEvent, Region | None, str]] = field(default_factory=dict)
    """By place: the latest write, its elements, and what its line says."""
    begun: dict[str, int] = field(default_factory=dict)
    """By place: the latest write that gave it values that do not depend on the old ones."""


def written_as_two(story: Story) -> Iterator[WrittenAsTwo]:
    """Yields one for each tensor and pair of places."""
    pairs: dict[Hashable, _Pair] = {}
    told: set[Hashable] = set()
    asked: Counter[Hashable] = Counter()
    for call, mutation, earlier in story.writes_counted:
        if earlier >= _MOST or call.error is not None or call.callsite is None:
            continue
        if not _may_be_a_state(story, mutation):
            continue
        asked[call.callsite, mutation.storage] += 1
        if asked[call.callsite, mutation.storage] > _MOST:
            continue
        path = story.bindings.written_path(call, mutation.tensor)
        for owned in owners_of(story, call, mutation, path):
            for key, mine, theirs in _places(story, call, mutation, owned):
                if key in told:
                    continue
                found = _entered(story, pairs.setdefault(key, _Pair()), call, mutation, mine, theirs, owned.path)
                if found is not None:
                    told.add(key)
                    yield found


def _may_be_a_state(story: Story, mutation: Mutation) -> bool:
    """True if a write may be one of a state."""
    if mutation.tensor not in story.observations or mutation.storage is None:
        return False
    return mutation.storage not in story.trained_memories and not story.is_gradient(mutation)


def _entered(
    story: Story, pair: _Pair, call: CallEvent, mutation: Mutation, mine: str, theirs: str, said: str
) -> WrittenAsTwo | None:
    """Enters a write; gives it where it builds on one by the other place."""
    region, before = reach_of_write(call, mutation), pair.last.get(theirs)
    builds = builds_on_itself(story, call, mutation)
    if not builds:
        pair.begun[mine] = call.index
    pair.last[mine] = call, region, said
    if before is None or not builds or before[0].index <= pair.begun.get(mine, -1) or before[0] is call:
        return None
    if before[0].callsite == call.callsite or not may_meet(before[1], region):
        return None
    return WrittenAsTwo(before[0], call, mutation.tensor, before[2], said)


def _places(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> Iterator[tuple[Hashable, str, str]]:
    """(key of the pair, the place that a line wrote by, the other one) for each that held the tensor then, too."""
    if owned.path.isidentifier():
        for other in _names_beside(story, call, mutation, owned):
            function = owned.site.function, owned.site.cell, owned.site.file
            yield (*function, mutation.storage, frozenset((owned.path, other))), owned.path, other
    yield from _keys_beside(story, call, mutation, owned)


def _keys_beside(
    story: Story, call: CallEvent, mutation: Mutation, owned: Owned
) -> Iterator[tuple[Hashable, str, str]]:
    node = expressions.parse(owned.path)
    level = level_of(call.callsite, owned.site)
    held = [h for h in story.holdings.get(call.index, ()) if h.level == level and is_on(story, h.tensor, mutation)]
    if len(held) < 2 or not isinstance(node, ast.expr):
        return
    prefix, step = way_to(story, owned.site, node)
    parted = [(*before_last_step(holding.path), holding) for holding in held]
    mine = next((h for before, last, h in parted if step and (before, last) == (prefix, step)), None)
    for _before, last, holding in parted if mine is not None else ():
        if mine is None or holding.object != mine.object or holding.tensor != mine.tensor or last == step:
            continue
        if not is_said_to_be_one(story, step, last):
            yield (mine.object, mutation.storage, frozenset((step, last))), step, last


def is_said_to_be_one(story: Story, one: str, other: str, *, but_in: Callsite | None = None) -> bool:
    """True if a statement gives the one key what the other holds: ``self.kernel = self.weight``.

    Args:
        story: the trace.
        one: a key.
        other: another one.
        but_in: a place in whose own function it does not count.
    """
    keys = {one, other}
    return any(
        {before_last_step(alias.target)[1], before_last_step(alias.source)[1]} == keys
        for alias in story.aliases.statements
        if not _is_a_chain(alias.text) and (but_in is None or alias.function != but_in.function)
    )


def _is_a_chain(text: str) -> bool:
    """``a = b = torch.zeros(n)``, and not ``a = b = c``."""
    node = expressions.parse(text)
    return isinstance(node, ast.Assign) and len(node.targets) > 1 and isinstance(node.value, ast.Call)


def _names_beside(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> Iterator[str]:
    """Yield the other names of one statement that bound a name of a function, or of what is around it, where they were
    seen to hold the tensor."""
    listing = whole_listing(story.trace, owned.site)
    statement = listing.statement_at(owned.site) if listing is not None else None
    if listing is None or statement is None or owned.path in owned.site.parameters:
        return
    scope = _scope_binding(listing, statement, owned.path)
    mine = _bindings_of(listing, scope, owned.path)
    held = _held(story, owned.site.function, owned.path, call.index + 1)
    if held is None or not is_on(story, held, mutation):
        return
    for other in dict.fromkeys(name for each in mine for name in _bound_with(each, owned.path)):
        theirs = _bindings_of(listing, scope, other)
        if mine != theirs or any(_changes_places(each, {owned.path, other}) for each in mine):
            continue
        if _held(story, owned.site.function, other, call.index + 1) == held:
            yield other


def _held(story: Story, function: str, name: str, before: int) -> int | None:
    """Return the tensor that a name of a function held last before a call, or one of what is around the function."""
    while True:
        bound = story.bindings.bound_last(function, name, before)
        if bound is not None:
            return bound[1]
        if function == "<module>":
            return story.bindings.owners.get(name)
        function = function.rpartition(".<locals>.")[0] or "<module>"


def _scope_binding(listing: Listing, statement: ast.stmt, name: str) -> ast.AST:
    """Return the function that binds a name which a statement says: its own, or one around it; else the module."""
    scope: ast.AST = listing.scope_of(statement)
    while not isinstance(scope, ast.Module):
        bound = _bindings_of(listing, scope, name)
        if bound and not any(scope in listing.around(each) for each in listing.declared.get(name, ())):
            break
        scope = listing.scope_of(scope)
    return scope


def _bindings_of(listing: Listing, scope: ast.AST, name: str) -> list[ast.AST]:
    """Return the statements of a function that bind a name to something."""
    found = []
    for stored in listing.stores.get(name, ()):
        above = next((n for n in listing.around(stored) if not isinstance(n, (ast.Tuple, ast.List))), None)
        if above is not None and not isinstance(above, ast.AugAssign) and listing.scope_of(stored) is scope:
            found.append(above)
    return found


def _bound_with(statement: ast.AST, name: str) -> list[str]:
    """The other names that a statement binds: `c` of ``h, c = begin()``, ``h = c = begin()``, ``for h, c in states``.
    What a product of a list with itself gives may well be one tensor twice."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign) and (len(statement.targets) == 1 or isinstance(statement.value, ast.Call)):
        targets = statement.targets
    elif isinstance(statement, (ast.For, ast.AsyncFor)) and not isinstance(statement.iter, ast.Call):
        targets = [statement.target]
    entries = [each for t in targets for each in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t])]
    names = [each.id for each in entries if isinstance(each, ast.Name)]
    return [each for each in names if each != name] if name in names else []


def _changes_places(statement: ast.AST, names: set[str]) -> bool:
    return not names.isdisjoint(variables_in(getattr(statement, "value", None)))
