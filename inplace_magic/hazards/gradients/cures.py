"""Fixes of gradients that are cleared too late, too early or not at all, and of histories that are cut off."""

from __future__ import annotations

import ast

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.language import spelled
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Edit, Listing, listing_of


def cleared_after_the_step(write: Written) -> Fix | None:
    """``opt.zero_grad()`` below ``opt.step()``."""
    site = write.hazard.origin
    listing = listing_of(write.story.trace, site)
    statement = listing.statement_at(site) if listing is not None and site is not None else None
    owner = _owner(statement)
    if listing is None or site is None or statement is None or owner is None or site.direct:
        return None  # only a library's own step is known to have the method beside it
    if not _is_moved_by(write.story, site, write.hazard.variable):
        return None  # an optimizer clears the gradients of its own parameters
    edit = listing.replace(statement, listing.text(statement), f"{owner}.{spelled('zero_grad()')}")
    return Fix(site, listing, (edit,)) if edit is not None else None


def _is_moved_by(story: Story, step: Callsite, gradient: str | None) -> bool:
    """True if a step writes the leaf of a gradient, by the leaf's name."""
    moved = {mutation.tensor for call in story.trace.calls if call.callsite == step for mutation in call.mutations}
    return any(f"{story.bindings.name(tensor)}.grad" == gradient for tensor in moved)


def cleared_before_the_backward(write: Written) -> Fix | None:
    """``opt.zero_grad()`` above ``loss.backward()``, where ``opt.step()`` follows in the same block: a step that is
    made now and then is to have the gradients of all backwards since the last one."""
    added, step = write.hazard.mutations[-1], write.hazard.read
    listing = listing_of(write.story.trace, added)
    if listing is None or step is None or step.direct or not added.same_run(step):
        return None
    backward, stepping = listing.statement_at(added), listing.statement_at(step)
    owner = _owner(stepping)
    if backward is None or stepping is None or owner is None or stepping not in listing.block_of(backward):
        return None
    if not _is_bound_before(listing, owner, backward, stepping):
        return None
    edit = listing.replace(backward, f"{owner}.{spelled('zero_grad()')}", listing.text(backward))
    return Fix(added, listing, (edit,)) if edit is not None else None


def _is_bound_before(listing: Listing, path: str, first: ast.stmt, last: ast.stmt) -> bool:
    """True if a path means at one statement what it means at a later one."""
    root = path.split(".")[0].split("[")[0]
    between = range(first.lineno, last.lineno + 1)
    return first.lineno < last.lineno and not any(node.lineno in between for node in listing.stores.get(root, ()))


def moved_below_the_step(write: Written) -> Fix | None:
    """The line that clears, moved to below the step of the same optimizer in the same function."""
    clear, step = write.hazard.mutation, write.hazard.read
    if clear is None or step is None or clear.direct or step.direct or not clear.same_run(step):
        return None
    listing = listing_of(write.story.trace, clear)
    if listing is None or not listing.whole:
        return None
    moved, above = listing.statement_at(clear), listing.statement_at(step)
    if moved is None or above is None or _owner(moved) is None or _owner(moved) != _owner(above):
        return None
    alone = listing.alone(moved) and len(listing.block_of(moved)) > 1
    if not alone or listing.scope_of(moved) != listing.scope_of(above):
        return None
    below = listing.replace(above, listing.text(above), listing.text(moved))
    gone = Edit(moved.lineno, moved.end_lineno or moved.lineno, ())
    return Fix(clear, listing, tuple(sorted((gone, below), key=lambda edit: edit.first))) if below is not None else None


def detached_apart(write: Written) -> Fix | None:
    """``h.detach()`` for ``h.detach_()``."""
    listing = write.listing
    node = listing.expression_at(write.site)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args or node.keywords:
        return None
    edit = listing.substitute([(node, f"{listing.text(node.func.value)}.{node.func.attr.rstrip('_')}()")])
    return Fix(write.site, listing, (edit,)) if edit is not None else None


def _owner(statement: ast.stmt | None) -> str | None:
    """Return ``opt`` of ``opt.step()``, where that is all of the statement."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    return expressions.path_text(call.func.value)
