"""Fixes that change the order of the user's statements: the write after backward, or the forward pass after the write.

A parameter stepped between forward and backward can be cured in three ways, and which one is right depends on the
gradients. Nothing was differentiated before the step: then ``step()`` simply stands too early and goes below
``backward()``. Otherwise the step belongs where it is, and moving it down would add the later backward's gradients to
it; then the later loss is computed anew after the step. A forward pass above its training loop goes into it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.step_advice import cut_off, reading_place, state_names
from inplace_magic.hazards.fixes.target import Fix, Written, above, below, indented, removed
from inplace_magic.hazards.late_backward import Carried, Stepped, backward_after, stepped
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite, where_they_part
from inplace_magic.source.chains import level
from inplace_magic.source.expressions import root_name, variables_bound, variables_read
from inplace_magic.source.listing import Block, Edit, Listing, listing_of
from inplace_magic.source.out_of_place import chain_base

_STAYS = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)


def reordered(write: Written) -> Fix | None:
    """The statements of write, backward and forward in an order that keeps the meaning; None where it is not plain."""
    story, hazard = write.story, write.hazard
    backward = backward_after(story, hazard)
    step = stepped(story, hazard)
    if step is not None and (carried := step.carried()) and all(entry.recurrent for entry in carried):
        return _cut_off(write, step, carried)
    first = step.saver.callsite if step is not None and step.saver is not None else hazard.saved
    if backward is None or backward.callsite is None:
        return None
    places = (write.site, backward.callsite) if first is None else (write.site, backward.callsite, first)
    sites = where_they_part(*(place.chain for place in places))
    listing = listing_of(story.trace, sites[0])
    if listing is None or not listing.whole or any(not site.same_function(sites[0]) for site in sites):
        return None
    wrote, used, *saved = (listing.statement_at(site) for site in sites)
    if wrote is None or used is None:
        return None
    edits = _moved_below(listing, wrote, used) if _may_go_below(write, sites[0], backward, step) else ()
    sentence = _("Write it after backward has used the old values.")
    if not edits and saved and saved[0] is not None and _is_step(hazard):
        savers = _savers(listing, sites[0], step, saved[0])
        anew = _moved_into_the_loop if backward.does("gives gradients") else computed_anew
        edits = anew(listing, savers, wrote, used)
        sentence = _("Compute the result after the step: a graph can only be used with the values it was built from.")
    return Fix(sites[0], listing, edits, None, sentence) if edits else None


def _savers(listing: Listing, wrote: Callsite, step: Stepped | None, first: ast.stmt) -> list[ast.stmt]:
    """Return the statements in the function of the step whose graphs it outdated, the first of them first."""
    chains = [call.callsite.chain for call in (step.savers if step is not None else ()) if call.callsite is not None]
    places = (next((site for site in chain if site.same_function(wrote)), None) for chain in chains)
    statements = (listing.statement_at(place) for place in places if place is not None)
    return list(dict.fromkeys((first, *(each for each in statements if each is not None))))


def _is_step(hazard: Hazard) -> bool:
    return hazard.mutation is not None and re.search(r"\.step\(", hazard.mutation.statement) is not None


def _may_go_below(write: Written, moved: Callsite, backward: CallEvent, step: Stepped | None) -> bool:
    """True if the write would do the same after `backward`: no other line than `moved` reads the written memory in
    between, and a step does not find other gradients there."""
    hazard = write.hazard
    wrote = hazard.call if hazard.call is not None else -1
    if step is not None and step.in_common and step.step_has_gradients and (_is_step(hazard) or _takes_others(step)):
        return False
    calls = [call for call in write.story.trace.calls if wrote <= call.index < backward.index]
    own = {call.index: call for call in calls if moved.same_line(level(call.callsite, moved))}
    written = {mutation.storage for call in own.values() for mutation in call.mutations}
    others = (call for call in calls if call.index > wrote and call.kind != "query" and call.index not in own)
    read = {meta.storage for call in others for meta in call.inputs if meta.storage is not None}
    return read.isdisjoint(written)


def _takes_others(step: Stepped) -> bool:
    """True if a write of the user's own reads anything but what it writes, such as the gradients."""
    alike = (call for call in step.story.trace.calls if call.callsite == step.wrote.callsite and call.mutations)
    return any(meta.tensor not in step.leaves for call in alike for meta in call.inputs if meta.shape != ())


def _common_block(listing: Listing, *statements: ast.stmt) -> tuple[Block, list[int]] | None:
    """Return the innermost block that holds all of the statements, and their positions in it; None where they do not
    stand there in this order."""
    around = [{each, *listing.around(each)} for each in statements]
    for node in (statements[0], *listing.around(statements[0])):
        block = listing.block_of(node) if isinstance(node, ast.stmt) else []
        places = [next((at for at, entry in enumerate(block) if entry in inside), None) for inside in around]
        found = [place for place in places if place is not None]
        if len(found) == len(places):
            return (block, found) if found == sorted(set(found)) else None
    return None


def _may_change_places(moved: Sequence[ast.stmt], others: Sequence[ast.stmt]) -> bool:
    """True if neither statements nor those that they pass bind what the other ones read or bind."""
    bound, read = (set[str]().union(*map(names, moved)) for names in (variables_bound, variables_read))
    return not any(
        bound & (variables_read(each) | variables_bound(each)) or read & variables_bound(each) for each in others
    )


def _moved_below(listing: Listing, wrote: ast.stmt, used: ast.stmt) -> tuple[Edit, ...]:
    found = _common_block(listing, wrote, used)
    if found is None:
        return ()
    block, (first, last) = found
    moved, anchor = block[first], block[last]
    if any(isinstance(node, _STAYS) for node in ast.walk(moved)) or not isinstance(anchor, (ast.Expr, ast.Assign)):
        return ()
    alone = listing.alone(moved) and listing.alone(anchor)
    if not alone or not _may_change_places([moved], block[first + 1 : last + 1]):
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
    if found is None:
        return ()
    block, (first, step, last) = found
    needed = variables_read(block[last])
    for entry in reversed(block[step + 1 : last]):  # a loss that is computed after the step goes on with older tensors
        if variables_bound(entry) & needed:
            needed = (needed - variables_bound(entry)) | variables_read(entry)
    wanted = _slice(block[first:step], savers, needed)
    if not wanted or wanted[0] is not block[first] or not all(listing.alone(entry) for entry in (*wanted, block[step])):
        return ()
    others = [entry for entry in block[first : step + 1] if entry not in wanted]
    made = set[str | None]().union(*map(variables_bound, wanted))
    if any(_written_into(entry) & made for entry in others):
        return ()  # a line between them changes what they give, and would not run again
    moved: list[ast.stmt] = []
    for entry in reversed(wanted):
        kept = [*others, *(other for other in wanted if other not in moved and other is not entry)]
        if not any(variables_bound(entry) & variables_read(other) for other in kept):
            moved.append(entry)
    lines = [line for entry in wanted for line in listing.whole_lines(entry)]
    return *(removed(entry) for entry in reversed(moved)), below(block[step], *lines)


def _slice(passed: Block, savers: list[ast.stmt], needed: set[str]) -> list[ast.stmt]:
    """Return the assignments that carry what the savers gave to the names that are needed, in their order."""
    tainted = variables_bound(passed[0])
    if not isinstance(passed[0], ast.Assign):
        return []
    for entry in passed[1:]:
        if isinstance(entry, ast.Assign) and (entry in savers or variables_read(entry) & tainted):
            tainted |= variables_bound(entry)
    needed = needed & tainted
    wanted: list[ast.stmt] = []
    for entry in reversed(passed):
        if variables_bound(entry) & needed:
            if not isinstance(entry, ast.Assign) or not all(_plain(target) for target in entry.targets):
                return []
            wanted.insert(0, entry)
            needed = (needed - variables_bound(entry)) | (variables_read(entry) & tainted)
    return wanted


def _written_into(statement: ast.stmt) -> set[str | None]:
    """Return the variables whose values a statement changes in place: ``p[0] = 1``, ``p.clamp_(0, 1)``."""
    found: set[str | None] = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            found.add(root_name(node))
        elif isinstance(node, ast.Call) and chain_base(node) is not node:
            found.add(root_name(chain_base(node)))
        elif isinstance(node, ast.AugAssign):
            found.add(root_name(node.target))
    return found - {None}


def _plain(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) or (isinstance(target, ast.Tuple) and all(map(_plain, target.elts)))


def _moved_into_the_loop(listing: Listing, savers: list[ast.stmt], wrote: ast.stmt, used: ast.stmt) -> tuple[Edit, ...]:
    """A forward pass above the loop that steps and differentiates goes to the top of the loop."""
    found = _common_block(listing, savers[0], wrote)
    if found is None:
        return ()
    block, (first, last) = found
    loop, passed = block[last], block[first:last]
    if not isinstance(loop, (ast.For, ast.While)) or loop.orelse or used not in set(ast.walk(loop)):
        return ()
    moved = _slice(passed, savers, variables_read(loop))
    header = variables_read(loop.iter if isinstance(loop, ast.For) else loop.test) | variables_bound(loop)
    if not moved or any(variables_bound(entry) & header or not listing.alone(entry) for entry in moved):
        return ()
    if loop.body[0].lineno <= loop.lineno or not _may_change_places(moved, [e for e in passed if e not in moved]):
        return ()
    lines = indented(listing, moved, listing.indent(loop.body[0]))
    return *(removed(entry) for entry in moved), above(loop.body[0], *lines)


def _cut_off(write: Written, step: Stepped, carried: list[Carried]) -> Fix | None:
    """``h, c = h.detach(), c.detach()`` below the step, in the loop whose passes hand on the state."""
    reader = reading_place(step, carried)
    if reader is None or not reader.same_function(write.site) or reader.line >= write.site.line:
        return None
    sentence = _("Detach the state at the start of each pass: the step has replaced its values.")
    return cut_off(write.listing, write.statement, write.site, state_names(reader, carried), carried, sentence)


def taken_after_the_write(write: Written) -> Fix | None:
    """The statement that takes views of the written tensor goes below the write."""
    origin, listing = write.hazard.origin, write.listing
    if origin is None or not listing.whole or not origin.same_function(write.site):
        return None
    taken = listing.statement_at(origin)
    edits = _moved_below(listing, taken, write.statement) if isinstance(taken, ast.Assign) else ()
    return Fix(write.site, listing, edits, None, _("Write before the views are taken.")) if edits else None
