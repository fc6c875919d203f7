"""One tensor stands in two places as two states, and is written by both: each write changes the other state.

``self.total = self.square = torch.zeros(n)`` and ``hidden, cell = zeros, zeros`` look like two tensors, and so does
what ``hidden, cell = begin()`` gives where `begin` returns one tensor twice. Nobody needs two places for one state: who
writes by both, and builds on what stands there, means two. Two buffers that change places (``self.now, self.next =
self.next, self.now``) are written under both names as well, but never held twice.

So it is with ``q.data = p.data``, again and again. To tie two tensors once is enough; who gives one the other's memory
in each pass takes that for a copy.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Hashable, Iterator
from itertools import islice

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.ledger import Owned, owners_of
from inplace_magic.analysis.overlap import may_meet, reach_of_write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.engine import is_there_to_be_written, writes_of
from inplace_magic.hazards.references.names import is_on, is_said_to_be_one, level_of
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.rule import Calls, Event, Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Mutation, Region
from inplace_magic.record.paths import before_last_step
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import parse, variables_in
from inplace_magic.source.listing import Listing
from inplace_magic.source.spots import Spot, spot_of

CODE = "written-as-two"

_MOST = 32
"""Writes of a memory by one line that are looked at."""
_BETWEEN = 256
"""Writes between two assignments that are looked at."""


def given_again(story: Story) -> Iterator[Found]:
    """Yield the lines that gave a tensor another one's memory twice, with a write by each of the two in between."""
    first: dict[tuple[object, ...], CallEvent] = {}
    reported: set[Callsite] = set()
    for call in story.doing("takes memory"):
        if call.error is not None or len(call.inputs) < 2 or call.callsite is None or call.callsite in reported:
            continue
        target, source = call.inputs[:2]
        owner = _whole(story, source.tensor, call.index)
        if target.requires_grad or source.storage is None or owner == target.tensor:
            continue  # of a leaf that is trained, see `taken-memory-trained`
        before = first.setdefault((call.callsite, target.tensor, owner, source.storage), call)
        if before is call or target.storage != source.storage:
            continue  # it still has memory of its own
        own, theirs = (
            _written_by(story, source.storage, tensor, before.index, call.index) for tensor in (target.tensor, owner)
        )
        if own is not None and theirs is not None:
            reported.add(call.callsite)
            node = parse(before.callsite.statement) if before.callsite is not None else None
            one, other = "q.data", "p.data"
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                one, other = ast.unparse(node.targets[0]), ast.unparse(node.value)
            words = {"one": one, "other": other, "code": wording.code(f"{one} = {other}.clone()")}
            calls: dict[str, Event | None] = {"line": before, "first": own, "second": theirs}
            yield Found(calls, target.tensor, one.removesuffix(".data"), words)


def _whole(story: Story, tensor: int, before: int) -> int:
    """`p` of ``p.data``, ``p.detach()``."""
    for taken in story.views_back(tensor, before):
        if taken.inputs[0].storage != taken.outputs[0].storage:
            break
        tensor = taken.inputs[0].tensor
    return tensor


def _written_by(story: Story, storage: int, tensor: int, since: int, until: int) -> Write | None:
    """Return the first write of a memory by a tensor, or a view of it, between two calls."""
    for write in islice(story.writes_between(storage, since, until), _BETWEEN):
        written = write.mutation.tensor if write.site is not None and write.mutation is not None else None
        if written is not None and _whole(story, written, write.at) == tensor:
            return write
    return None


def written_by_both(story: Story) -> Iterator[Found]:
    """Yield the writes on top of what a write by another place of the tensor left, one for each pair of places."""
    last: dict[tuple[Hashable, str], tuple[CallEvent, Region | None, str]] = {}
    """By pair and place: the latest write, its elements, and what its line says."""
    begun: dict[tuple[Hashable, str], int] = {}
    """By pair and place: the latest write that gave it values that do not depend on the old ones."""
    reported: set[Hashable] = set()
    asked: Counter[Hashable] = Counter()
    for call, mutation in writes_of(story.in_place):
        asked[call.callsite, mutation.storage] += 1
        trained = mutation.storage is None or mutation.storage in story.trained_memories
        if asked[call.callsite, mutation.storage] > _MOST or trained or is_there_to_be_written(story, mutation):
            continue
        for owned in owners_of(story, call, mutation):
            for pair, mine, theirs in _places(story, call, mutation, owned):
                region, builds = reach_of_write(call, mutation), builds_on_itself(story, call, mutation)
                if not builds:
                    begun[pair, mine] = call.index
                last[pair, mine] = call, region, owned.path
                earlier, elements, one = last.get((pair, theirs), (call, None, ""))
                other_line = earlier.callsite != call.callsite and earlier.index > begun.get((pair, mine), -1)
                if builds and other_line and may_meet(elements, region) and pair not in reported:
                    reported.add(pair)
                    made = story.bindings.made_at.get(mutation.tensor)
                    calls: dict[str, Event | None] = {"line": call, "first": earlier, "made": made}
                    variable = story.bindings.written_name(call, mutation.tensor) or owned.path
                    yield Found(calls, mutation.tensor, variable, {"one": one, "other": owned.path})


def _places(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> Iterator[tuple[Hashable, str, str]]:
    """Yield (key of the pair, the place that a line wrote by, the other one) for each that held the tensor then, too:
    a name that was bound by the same statement, or another key of the same object."""
    site = owned.site
    for other in _names_bound_with(story, call, mutation, owned):
        pair = frozenset((owned.path, other))
        yield (site.whose, mutation.storage, pair), owned.path, other
    level, node = level_of(call.callsite, site), parse(owned.path)
    held = [h for h in story.holdings.get(call.index, ()) if h.level == level and is_on(story, h.tensor, mutation)]
    spot = spot_of(story.trace, site) if len(held) > 1 else None
    owner, step = spot.way_to(node) if spot is not None and isinstance(node, ast.expr) else ("", "")
    mine = {(h.object, h.tensor) for h in held if step and before_last_step(h.path) == (owner, step)}
    for holding in held:
        other = before_last_step(holding.path)[1]
        same = (holding.object, holding.tensor) in mine and other != step
        if same and not is_said_to_be_one(story, step, other):
            yield (holding.object, mutation.storage, frozenset((step, other))), step, other


def _names_bound_with(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> Iterator[str]:
    """Yield the other names of one statement that bound a name of a function, or of what is around it, where they were
    seen to hold the tensor."""
    spot = spot_of(story.trace, owned.site) if owned.path.isidentifier() else None
    if spot is None or owned.path in owned.site.parameters:
        return
    held = _held(story, owned.site.function, owned.path, call.index + 1)
    if held is None or not is_on(story, held, mutation):
        return
    scope = _scope_binding(spot, owned.path)
    mine = _bindings_in(spot.listing, scope, owned.path)
    for other in dict.fromkeys(name for each in mine for name in _bound_with(each, owned.path)):
        values = (getattr(each, "value", None) for each in mine)
        swapped = any(not variables_in(value).isdisjoint((owned.path, other)) for value in values)
        together = not swapped and mine == _bindings_in(spot.listing, scope, other)
        if together and _held(story, owned.site.function, other, call.index + 1) == held:
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


def _scope_binding(spot: Spot, name: str) -> ast.AST:
    """Return the function that binds a name which a statement says: its own, or one around it; else the module."""
    scope: ast.AST = spot.scope
    declared = spot.listing.declared.get(name, ())
    while not isinstance(scope, ast.Module):
        elsewhere = any(scope in spot.listing.around(each) for each in declared)
        if _bindings_in(spot.listing, scope, name) and not elsewhere:
            break
        scope = spot.listing.scope_of(scope)
    return scope


def _bindings_in(listing: Listing, scope: ast.AST, name: str) -> list[ast.AST]:
    """Return the statements of a function that bind a name to something."""
    stores = (stored for stored in listing.stores.get(name, ()) if listing.scope_of(stored) is scope)
    above = (next(n for n in listing.around(stored) if not isinstance(n, (ast.Tuple, ast.List))) for stored in stores)
    return [each for each in above if not isinstance(each, ast.AugAssign)]


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


def memory_copied(write: Written) -> Fix | None:
    """``q.data = p.data.clone()``."""
    node, call = write.statement, write.call
    if call is None or not call.does("takes memory") or not isinstance(node, ast.Assign):
        return None
    return write.copied(node.value)


RULES = rules_of(
    Row(
        CODE,
        "warning",
        given_again,
        Calls(read="second", origin="line"),
        message=N_(
            "{line} gives `{one}` the memory of `{other}` instead of a copy: {first_code} and {second_code} both write "
            "it from then on, so each changes both. PyTorch gives no error."
        ),
        fix=N_("Give it a copy: {code}."),
        ways=(memory_copied,),
        badges=Badges(read=N_("writes the same memory here")),
    ),
    Row(
        CODE,
        "warning",
        written_by_both,
        Calls(also="first", origin="made"),
        message=N_(
            "{line} continues from what {first} wrote: `{other}` and `{one}` are one tensor, so each write "
            "changes both. PyTorch gives no error."
        ),
        fix=N_("Give `{one}` and `{other}` each a tensor of its own where they begin."),
    ),
)
