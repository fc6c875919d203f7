"""A copy where the second reference was taken: at the finding's origin, or where the written name begins."""

from __future__ import annotations

import ast

from inplace_magic.hazards.fixes.clone import copied_as_given
from inplace_magic.hazards.fixes.out_of_place import cloned
from inplace_magic.hazards.fixes.target import Fix, Written, fix_of
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Listing, listing_of


def copied_where_taken(write: Written) -> Fix | None:
    """``earlier = pool[i].clone()``, ``self.before = self.now.clone()``."""
    origin = write.hazard.origin
    listing = listing_of(write.story.trace, origin)
    if origin is None or listing is None:
        return None
    statement = listing.statement_on(origin.line)
    node = listing.expression_at(origin) or (statement.value if isinstance(statement, ast.Assign) else None)
    return None if node is None or _is_bound_before(listing, node) else _copied(write, origin, listing, node)


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
    found = write.text_at(write.hazard.origin)
    return _copied(write, *found) if found is not None and found[0].direct else None


def _copied(write: Written, origin: Callsite, listing: Listing, node: ast.expr) -> Fix | None:
    change = copied_as_given(write, origin, listing, node)
    return fix_of(origin, listing, [change] if change is not None else (), write.nbytes)


def array_copied(write: Written) -> Fix | None:
    """A copy where the array was taken, which is the finding's origin."""
    listing, origin = write.listing, write.hazard.origin
    node = listing.expression_at(origin) if origin is not None else None
    return fix_of(write.site, listing, [(node, f"{listing.text(node)}.copy()")] if node is not None else ())


def begun_with_a_copy(write: Written) -> Fix | None:
    """``h = h0.clone()``, ``mask = causal_mask(n).clone()``: the last statement above the write that binds its name."""
    listing, path = write.listing, write.path
    bound = [
        node
        for node in ast.walk(listing.scope_of(write.statement))
        if isinstance(node, ast.Assign)
        and node.lineno < write.statement.lineno
        and [path_text(target) for target in node.targets] == [path]
    ]
    return copied(write, listing, bound[0].value) if listing.whole and len(bound) == 1 else None


def copied(write: Written, listing: Listing, value: ast.expr) -> Fix | None:
    """A copy in the place of what an expression gives, at the price of the tensor that was written."""
    return fix_of(write.site, listing, [cloned(listing, value)], write.nbytes)
