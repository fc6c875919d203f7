"""A copy of the value that a name begins with."""

from __future__ import annotations

import ast

from inplace_magic.hazards.fixes.clone import edits_of
from inplace_magic.hazards.fixes.out_of_place import cloned
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing


def begun_with_a_copy(write: Written) -> Fix | None:
    """``h = h0.clone()``, ``mask = causal_mask(n).clone()``: the last statement above the write that binds its name."""
    listing, path = write.listing, write.path
    scope = listing.scope_of(write.statement)
    bound = [
        node
        for node in ast.walk(scope)
        if isinstance(node, ast.Assign)
        and node.lineno < write.statement.lineno
        and [expressions.path_text(target) for target in node.targets] == [path]
    ]
    if not listing.whole or len(bound) != 1:
        return None
    return copied(write, listing, bound[0].value)


def copied(write: Written, listing: Listing, value: ast.expr) -> Fix | None:
    """A copy in the place of what an expression gives, at the price of the tensor that was written."""
    edits = edits_of(listing, [cloned(listing, value)])
    return Fix(write.site, listing, edits, write.meta.nbytes if write.meta is not None else None) if edits else None
