"""Fixes that change the order of the user's statements: the write after backward, or the forward pass after the write.

A parameter stepped between forward and backward can be cured in three ways, and which one is right depends on the
gradients. Nothing was differentiated before the step: then ``step()`` simply stands too early and goes below
``backward()``. Otherwise the step belongs where it is, and moving it down would add the later backward's gradients to
it; then the later loss is computed anew after the step. A forward pass above its training loop goes into it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.out_of_place import chain_base
from inplace_magic.hazards.fixes.step_advice import cut_off, reading_place, state_names
from inplace_magic.hazards.fixes.target import Fix, Written, below, moved_into, removed
from inplace_magic.hazards.stepped import Carried, Stepped, backward_after, stepped
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite, where_they_part
from inplace_magic.source.expressions import root_name
from inplace_magic.source.listing import Block, Edit, Listing, listing_of
from inplace_magic.source.variables import variables_read

_STAYS = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)


def reordered(write: Written) -> Fix | None:
    """The statements of write, backward and forward in an order that keeps the meaning; None where it is not plain."""
    story, hazard = write.story, write.hazard
    backward = backward_after(story, hazard)
    step = stepped(story, hazard)
    if step is not None and (carried := step.carried()) and all(entry.recurrent for entry in carried):
        return _cut_off(write, step, carried)
    first = step.saver.callsite if step is not None and step.saver is not None else hazard.saved
    if backward is None or backward.callsite is None or hazard.mutation is None:
        return None
    sites = where_they_part(
        hazard.mutation.chain, backward.callsite.chain, *(first.chain for first in (first,) if first is not None)
    )
    listing = listing_of(story.trace, sites[0])
    if listing is None or not listing.whole or any(not site.same_function(sites[0]) for site in sites):
        return None
    statements = [listing.statement_at(site) for site in sites]
    wrote, used = statements[0], statements[1]
    saved = statements[2] if len(statements) == 3 else None
    if wrote is None or used is None:
        return None
    edits: tuple[Edit, ...] = ()
    sentence = ""
    if _may_go_below(write, backward, step):
        edits = _moved_below(listing, wrote, used)
        sentence = _("Write it after backward has used the old values.")
    if not edits and saved is not None and _is_step(hazard):
        plain = not backward.does("gives gradients")
        savers = _savers(listing, sites[0], step, saved)
        edits = (computed_anew if plain else _moved_into_the_loop)(listing, savers, wrote, used)
        sentence = _("Compute the result after the step: a graph can only be used with the values it was built from.")
    return Fix(sites[0], listing, edits, None, sentence) if edits else None


def _savers(listing: Listing, wrote: Callsite, step: Stepped | None, first: ast.stmt) -> list[ast.stmt]:
    """The statements in the function of the step whose graphs it outdated, the first of them first."""
    found = [first]
    for call in step.savers if step is not None else ():
        chain = call.callsite.chain if call.callsite is not None else ()
        place = next((site for site in chain if site.same_function(wrote)), None)
        statement = listing.statement_at(place) if place is not None else None
        if statement is not None and statement not in found:
            found.append(statement)
    return found


def _is_step(hazard: Hazard) -> bool:
    return hazard.mutation is not None and re.search(r"\.step\(", hazard.mutation.statement) is not None


def _may_go_below(write: Written, backward: CallEvent, step: Stepped | None) -> bool:
    """Whether the write would do the same after `backward`: nobody reads the written memory in between, and a step
    does not find other gradients there."""
    story, hazard = write.story, write.hazard
    wrote = hazard.call if hazard.call is not None else -1
    if step is not None and step.in_common and step.step_has_gradients and (_is_step(hazard) or _takes_others(step)):
        return False
    written = {
        mutation.storage
        for call in story.trace.calls
        if wrote <= call.index < backward.index
        for mutation in call.mutations
        if call.callsite is not None and _line(call.callsite) == _line(hazard.mutation)
    }
    between = (call for call in story.trace.calls if wrote < call.index < backward.index)
    return not any(
        meta.storage in written and _line(call.callsite) != _line(hazard.mutation)
        for call in between
        for meta in call.inputs
        if meta.storage is not None and call.kind != "query"
    )


def _takes_others(step: Stepped) -> bool:
    """Whether a write of the user's own reads anything but what it writes, such as the gradients."""
    alike = (call for call in step.story.trace.calls if call.callsite == step.wrote.callsite and call.mutations)
    return any(meta.tensor not in step.leaves for call in alike for meta in call.inputs if meta.shape != ())


def _line(site: Callsite | None) -> tuple[int, str | None] | None:
    """The user's outermost line of a place."""
    return (site.outermost.line, site.outermost.file) if site is not None else None


def _common_block(listing: Listing, *statements: ast.stmt) -> tuple[Block, list[int]] | None:
    """The innermost block that holds all of the statements, and their positions in it."""
    for block in _blocks_around(listing, statements[0]):
        places = [_position(listing, block, statement) for statement in statements]
        if all(place is not None for place in places):
            return block, [place for place in places if place is not None]
    return None


def _blocks_around(listing: Listing, statement: ast.stmt) -> Iterator[Block]:
    node: ast.AST | None = statement
    while node is not None:
        if isinstance(node, ast.stmt):
            yield listing.block_of(node)
        node = listing.parents.get(node)


def _position(listing: Listing, block: Block, statement: ast.stmt) -> int | None:
    inside: set[ast.AST] = {statement, *listing.around(statement)}
    return next((number for number, entry in enumerate(block) if entry in inside), None)


def _moved_below(listing: Listing, wrote: ast.stmt, used: ast.stmt) -> tuple[Edit, ...]:
    found = _common_block(listing, wrote, used)
    if found is None or found[1][0] >= found[1][1]:
        return ()
    block, (first, last) = found
    moved, anchor = block[first], block[last]
    names = _stored(moved)
    between = block[first + 1 : last + 1]
    if any(isinstance(node, _STAYS) for node in ast.walk(moved)) or not isinstance(anchor, (ast.Expr, ast.Assign)):
        return ()
    read = variables_read(moved)
    if any(names & (variables_read(entry) | _stored(entry)) or read & _stored(entry) for entry in between):
        return ()
    if not listing.alone(moved) or not listing.alone(anchor):
        return ()
    return removed(moved), below(anchor, *listing.whole_lines(moved))


def computed_anew(listing: Listing, savers: list[ast.stmt], wrote: ast.stmt, used: ast.stmt) -> tuple[Edit, ...]:
    """What was built from values that a step has replaced, built below it, or in the loop that steps.

    Args:
        listing: the text of all these statements.
        savers: those whose graphs the step outdated, the first of them first.
        wrote: the step.
        used: the backward that comes after it.
    """
    return _built_again(listing, savers, wrote, used) or _moved_into_the_loop(listing, savers, wrote, used)


def _built_again(listing: Listing, savers: list[ast.stmt], wrote: ast.stmt, used: ast.stmt) -> tuple[Edit, ...]:
    """The statements from the first save to what is read after the step once more after it; those that nobody needed
    before it move."""
    found = _common_block(listing, savers[0], wrote, used)
    if found is None or not found[1][0] < found[1][1] < found[1][2]:
        return ()
    block, (first, step, last) = found
    passed = block[first:step]
    needed = variables_read(block[last])
    for entry in reversed(block[step + 1 : last]):  # a loss that is computed after the step goes on with older tensors
        if _stored(entry) & needed:
            needed = (needed - _stored(entry)) | variables_read(entry)
    wanted = _slice(passed, savers, needed)
    if not wanted or wanted[0] is not block[first] or not all(listing.alone(entry) for entry in (*wanted, block[step])):
        return ()
    others = [entry for entry in block[first : step + 1] if entry not in wanted]
    made = set().union(*(_stored(entry) for entry in wanted))
    if any(_written_into(entry) & made for entry in others):
        return ()  # a line between them changes what they give, and would not run again
    moved: list[ast.stmt] = []
    for entry in reversed(wanted):
        kept = [*others, *(other for other in wanted if other not in moved and other is not entry)]
        if not any(_stored(entry) & variables_read(other) for other in kept):
            moved.append(entry)
    lines = [line for entry in wanted for line in listing.whole_lines(entry)]
    return *(removed(entry) for entry in reversed(moved)), below(block[step], *lines)


def _slice(passed: Block, savers: list[ast.stmt], needed: set[str]) -> list[ast.stmt]:
    """The assignments that carry what the savers gave to the names that are needed, in their order."""
    tainted = _stored(passed[0])
    if not isinstance(passed[0], ast.Assign):
        return []
    for entry in passed[1:]:
        if isinstance(entry, ast.Assign) and (entry in savers or variables_read(entry) & tainted):
            tainted |= _stored(entry)
    needed = needed & tainted
    wanted: list[ast.stmt] = []
    for entry in reversed(passed):
        if _stored(entry) & needed:
            if not isinstance(entry, ast.Assign) or not all(_plain(target) for target in entry.targets):
                return []
            wanted.insert(0, entry)
            needed = (needed - _stored(entry)) | (variables_read(entry) & tainted)
    return wanted


def _written_into(statement: ast.stmt) -> set[str | None]:
    """The variables whose values a statement changes in place: ``p[0] = 1``, ``p.clamp_(0, 1)``."""
    found: set[str | None] = set()
    for node in ast.walk(statement):
        target: ast.expr | None = None
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            target = node
        elif isinstance(node, ast.Call) and chain_base(node) is not node:
            target = chain_base(node)
        elif isinstance(node, ast.AugAssign):
            target = node.target
        found |= {root_name(target)} - {None}
    return found


def _plain(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple):
        return all(_plain(entry) for entry in target.elts)
    return isinstance(target, ast.Name)


def _moved_into_the_loop(listing: Listing, savers: list[ast.stmt], wrote: ast.stmt, used: ast.stmt) -> tuple[Edit, ...]:
    """A forward pass above the loop that steps and differentiates goes to the top of the loop."""
    found = _common_block(listing, savers[0], wrote)
    if found is None or found[1][0] >= found[1][1]:
        return ()
    block, (first, last) = found
    loop, passed = block[last], block[first:last]
    if not isinstance(loop, (ast.For, ast.While)) or loop.orelse or used not in set(ast.walk(loop)):
        return ()
    moved = _slice(passed, savers, variables_read(loop))
    names, read = (set[str]().union(*map(of, moved)) for of in (_stored, variables_read))
    others = [entry for entry in passed if entry not in moved]
    if any(names & (variables_read(entry) | _stored(entry)) or read & _stored(entry) for entry in others):
        return ()
    fits = loop.body[0].lineno > loop.lineno and all(listing.alone(entry) for entry in moved)
    header = variables_read(loop.iter if isinstance(loop, ast.For) else loop.test)
    return moved_into(listing, moved, loop) if moved and fits and not names & (_stored(loop) | header) else ()


def _cut_off(write: Written, step: Stepped, carried: list[Carried]) -> Fix | None:
    """``h, c = h.detach(), c.detach()`` below the step, in the loop whose passes hand on the state."""
    reader = reading_place(step, carried)
    if reader is None or not reader.same_function(write.site) or reader.line >= write.site.line:
        return None
    edits = cut_off(write.listing, write.statement, write.site, state_names(reader, carried), carried)
    sentence = _("Detach the state at the start of each pass: the step has replaced its values.")
    return Fix(write.site, write.listing, edits, None, sentence) if edits else None


def taken_after_the_write(write: Written) -> Fix | None:
    """The statement that takes views of the written tensor goes below the write."""
    origin, listing = write.hazard.origin, write.listing
    if origin is None or not listing.whole or not origin.same_function(write.site):
        return None
    taken = listing.statement_at(origin)
    if not isinstance(taken, ast.Assign):
        return None
    edits = _moved_below(listing, taken, write.statement)
    return Fix(write.site, listing, edits, None, _("Write before the views are taken.")) if edits else None


def _stored(statement: ast.stmt) -> set[str]:
    """The names that a statement binds; of what it writes into, the first name counts as read."""
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del))}
