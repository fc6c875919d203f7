"""Whether a list or dict that was seen at two writes is one and the same.

It tells nobody that it died, and the next one may get its number. So two that have one number are one only where the
text binds what holds it no second time in between.
"""

from __future__ import annotations

import ast

from inplace_magic.analysis.story import Story
from inplace_magic.record.names import Holding
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import LOOPS, Listing, whole_listing


def is_still_there(story: Story, container: str, before: Holding, after: Holding) -> bool:
    """Whether two sightings with one number are of one container.

    Args:
        story: the trace.
        container: the path that both begin with: ``curve`` of ``curve[0]``.
        before: the earlier one.
        after: the later one, in the same function.
    """
    if before.is_sure:
        return True
    one, other = (_place(story, holding) for holding in (before, after))
    if one is None or other is None or not one.same_run(other):
        return False
    listing = whole_listing(story.trace, one)
    if listing is None:
        return False
    if not container.isidentifier():  # an attribute outlives the runs of the methods that fill it
        return not any(_is_bound_again(listing, node, container) for node in listing.nodes)
    if any(_is_repeated(story, place) for place in one.chain[:-1]):
        return False  # each run of the function has one of its own
    statements = [listing.statement_at(place) for place in (one, other)]
    around = [loop for each in statements if each is not None for loop in listing.around(each)]
    loops = [loop for loop in around if isinstance(loop, LOOPS)]
    stores = [store for store in listing.stores.get(container, ()) if not _goes_on(listing, store)]
    between = any(one.line < store.lineno <= other.line for store in stores)
    return not between and not any(loop in listing.around(store) for loop in loops for store in stores)


def _place(story: Story, holding: Holding) -> Callsite | None:
    """Where the function stood that has the name."""
    site = story.calls[holding.call].callsite
    chain = site.chain if site is not None else ()
    return chain[-1 - holding.level] if holding.level < len(chain) else None


def _is_repeated(story: Story, place: Callsite) -> bool:
    """Whether a loop is around a place."""
    listing = whole_listing(story.trace, place)
    statement = listing.statement_at(place) if listing is not None else None
    if listing is None or statement is None:
        return True
    return isinstance(statement, LOOPS) or any(isinstance(node, LOOPS) for node in listing.around(statement))


def _is_bound_again(listing: Listing, node: ast.AST, path: str) -> bool:
    """Whether a node binds an attribute or entry anew: outside of the function that makes the object."""
    if not isinstance(node, (ast.Attribute, ast.Subscript)) or not isinstance(node.ctx, ast.Store):
        return False
    outside = getattr(listing.scope_of(node), "name", "") != "__init__"
    return outside and path_text(node) == path and not _goes_on(listing, node)


def _goes_on(listing: Listing, target: ast.AST) -> bool:
    """Whether a name or attribute is bound to what it was, with more in it: ``curve += [total]``."""
    return isinstance(listing.parents.get(target), ast.AugAssign)
