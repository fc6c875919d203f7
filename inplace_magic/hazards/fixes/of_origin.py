"""A copy where the second reference was taken, which the finding names as its origin."""

from __future__ import annotations

import ast

from inplace_magic.hazards.fixes.clone import copied_as_given, edits_of
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Listing, listing_of


def copied_where_taken(write: Written) -> Fix | None:
    """``earlier = pool[i].clone()``, ``self.before = self.now.clone()``."""
    origin = write.hazard.origin
    listing = listing_of(write.story.trace, origin)
    if origin is None or listing is None:
        return None
    node = listing.expression_at(origin)
    if node is None:
        statement = listing.statement_on(origin.line)
        node = statement.value if isinstance(statement, ast.Assign) else None
    if node is None or _is_bound_before(listing, node):
        return None
    return _copied(write, origin, listing, node)


def _is_bound_before(listing: Listing, node: ast.expr) -> bool:
    """Whether the name that an expression is given is given something above as well, as before a loop: one copy alone
    would leave that as it is."""
    statement = listing.parents.get(node)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    name = statement.targets[0].id
    bound = (each for each in ast.walk(listing.scope_of(statement)) if isinstance(each, ast.Assign))
    above = [each for each in bound if each.lineno < statement.lineno and path_text(each.targets[0]) == name]
    return any(isinstance(each.value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) for each in above)


def expression_copied(write: Written) -> Fix | None:
    """``x[0], x[1] = x[1], x[0].clone()``: the very expression that took it, where the line itself does."""
    origin = write.hazard.origin
    listing = listing_of(write.story.trace, origin)
    if origin is None or listing is None or not origin.direct:
        return None
    return _copied(write, origin, listing, listing.expression_at(origin))


def _copied(write: Written, origin: Callsite, listing: Listing, node: ast.expr | None) -> Fix | None:
    change = copied_as_given(write, listing, origin, node) if node is not None else None
    edits = edits_of(listing, [change]) if change is not None else ()
    return Fix(origin, listing, edits, write.meta.nbytes if write.meta is not None else None) if edits else None


def array_copied(write: Written) -> Fix | None:
    """A copy where the array was taken, which is the finding's origin."""
    listing, origin = write.listing, write.hazard.origin
    node = listing.expression_at(origin) if origin is not None else None
    edits = edits_of(listing, [(node, f"{listing.text(node)}.copy()")]) if node is not None else ()
    return Fix(write.site, listing, edits) if edits else None
