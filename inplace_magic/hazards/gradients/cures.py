"""Fixes of gradients that are cleared too late, too early or not at all, and of histories that are cut off."""

from __future__ import annotations

import ast

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.fixes.target import Fix, Written, fix_of, removed
from inplace_magic.language import spelled
from inplace_magic.record.paths import before_first_step
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Listing, listing_of
from inplace_magic.source.out_of_place import behind_alias, receiver


def history_kept(write: Written) -> Fix | None:
    """``judge(fake)`` for ``judge(fake.detach())``, where that cuts off all that a step could move."""
    node = write.listing.expression_at(write.site)
    kept = behind_alias(node) if node is not None else None
    return fix_of(write.site, write.listing, [(node, write.listing.text(kept))] if node is not None and kept else ())


def cleared_after_the_step(write: Written) -> Fix | None:
    """``opt.zero_grad()`` below ``opt.step()``."""
    site = write.hazard.origin
    listing, statement = _statement(write.story, site)
    owner = _owner(statement)
    if listing is None or site is None or statement is None or owner is None or site.direct:
        return None  # only a library's own step is known to have the method beside it
    if not _is_moved_by(write.story, site, write.hazard.variable):
        return None  # an optimizer clears the gradients of its own parameters
    edit = listing.replace(statement, listing.text(statement), f"{owner}.{spelled('zero_grad()')}")
    return Fix(site, listing, (edit,)) if edit is not None else None


def _statement(story: Story, site: Callsite | None) -> tuple[Listing | None, ast.stmt | None]:
    listing = listing_of(story.trace, site)
    return listing, listing.statement_at(site) if listing is not None and site is not None else None


def _is_moved_by(story: Story, step: Callsite, gradient: str | None) -> bool:
    """True if a step writes the leaf of a gradient, by the leaf's name."""
    moved = {mutation.tensor for call in story.trace.calls if call.callsite == step for mutation in call.mutations}
    return any(f"{story.bindings.name(tensor)}.grad" == gradient for tensor in moved)


def cleared_before_the_backward(write: Written) -> Fix | None:
    """``opt.zero_grad()`` above ``loss.backward()``, where ``opt.step()`` follows in the same block: a step that is
    made now and then is to have the gradients of all backwards since the last one."""
    added, step = write.hazard.mutations[-1], write.hazard.read
    listing, backward = _statement(write.story, added)
    if listing is None or backward is None or step is None or step.direct or not added.same_run(step):
        return None
    stepping = listing.statement_at(step)
    owner = _owner(stepping)
    if owner is None or stepping not in listing.block_of(backward) or stepping.lineno <= backward.lineno:
        return None
    between = range(backward.lineno, stepping.lineno + 1)
    if any(node.lineno in between for node in listing.stores.get(before_first_step(owner)[0], ())):
        return None  # the name means another optimizer at the step
    edit = listing.replace(backward, f"{owner}.{spelled('zero_grad()')}", listing.text(backward))
    return Fix(added, listing, (edit,)) if edit is not None else None


def moved_below_the_step(write: Written) -> Fix | None:
    """The line that clears, moved to below the step of the same optimizer in the same function."""
    clear, step = write.hazard.mutation, write.hazard.read
    if clear is None or step is None or clear.direct or step.direct or not clear.same_run(step):
        return None
    listing, moved = write.listing, write.statement
    anchor = listing.statement_at(step) if listing.whole else None
    if anchor is None or _owner(moved) is None or _owner(moved) != _owner(anchor):
        return None
    alone = listing.alone(moved) and len(listing.block_of(moved)) > 1
    put = listing.replace(anchor, listing.text(anchor), listing.text(moved))
    if not alone or put is None or listing.scope_of(moved) != listing.scope_of(anchor):
        return None
    return Fix(clear, listing, tuple(sorted((removed(moved), put), key=lambda edit: edit.first)))


def detached_apart(write: Written) -> Fix | None:
    """``h.detach()`` for ``h.detach_()``."""
    node = write.expression
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args or node.keywords:
        return None
    return write.substituted([(node, f"{write.listing.text(node.func.value)}.{node.func.attr.rstrip('_')}()")])


def _owner(statement: ast.stmt | None) -> str | None:
    """Return ``opt`` of ``opt.step()``, where that is all of the statement."""
    return path_text(receiver(statement.value)) if isinstance(statement, ast.Expr) else None
