"""A copy where the second reference was taken, which the finding names as its origin."""

from __future__ import annotations

import ast

from inplace_magic.hazards.fixes.clone import edits_of
from inplace_magic.hazards.fixes.out_of_place import cloned
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.record.places import Callsite
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
    return _copied(write, origin, listing, node)


def expression_copied(write: Written) -> Fix | None:
    """``x[0], x[1] = x[1], x[0].clone()``: the very expression that took it, where the line itself does."""
    origin = write.hazard.origin
    listing = listing_of(write.story.trace, origin)
    if origin is None or listing is None or not origin.direct:
        return None
    return _copied(write, origin, listing, listing.expression_at(origin))


def _copied(write: Written, origin: Callsite, listing: Listing, node: ast.expr | None) -> Fix | None:
    edits = edits_of(listing, [cloned(listing, node)]) if node is not None else ()
    return Fix(origin, listing, edits, write.meta.nbytes if write.meta is not None else None) if edits else None
