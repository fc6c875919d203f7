"""Fixes for a model that was kept under a second name while it was trained on: the name gets a copy."""

from __future__ import annotations

import ast

from inplace_magic.analysis.naming.chosen_models import bindings, binds
from inplace_magic.hazards.fixes.deep_copy import deep_copied
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.record.paths import is_or_lies_in, last_attribute
from inplace_magic.record.training import ModuleSighting
from inplace_magic.source import expressions
from inplace_magic.source.listing import FUNCTIONS, LOOPS, Listing, whole_listing


def copied_when_taken(write: Written) -> Fix | None:
    """``best = copy.deepcopy(model)`` for ``best = model``, and for ``kept.append(model)``."""
    story, path, listing = write.story, write.hazard.variable, write.listing
    entry = next((each for each in story.trace.sightings if each.path == path), None)
    if entry is None or not listing.whole or whole_listing(story.trace, entry.place) is not listing:
        return None
    names = {each.path for each in story.trace.sightings if each.module == entry.module and each.since is None}
    last = last_attribute(entry.path)
    found: list[tuple[ast.stmt, ast.expr]] = []
    for node in listing.nodes:
        if isinstance(node, ast.Assign) and binds(listing, node, entry, last) and _repeats(listing, node):
            found += [(node, value) for target, value in bindings(node) if _is_target(target, entry, last)]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _repeats(listing, node):
            called, given = expressions.path_text(node.value.func), node.value.args
            if called == f"{entry.path.partition('[')[0]}.append" and len(given) == 1:
                found.append((node, given[0]))
    if len(found) != 1:
        return None
    statement, value = found[0]
    held = [each for each in _within(value) if expressions.path_text(each) in names or last is not None]
    return deep_copied(write, listing, statement, held[0], held[0]) if len(held) == 1 else None


def _repeats(listing: Listing, node: ast.stmt) -> bool:
    return any(isinstance(above, (*LOOPS, *FUNCTIONS)) for above in listing.around(node)) and any(
        isinstance(above, (*LOOPS, ast.If)) for above in listing.around(node)
    )


def _is_target(target: str | None, entry: ModuleSighting, last: str | None) -> bool:
    if target is None:
        return False
    return last_attribute(target) == last if last is not None else is_or_lies_in(entry.path, target)


def _within(value: ast.expr) -> list[ast.expr]:
    """What an expression may hold a module as: itself, or the entries of a dict, list or tuple."""
    if isinstance(value, (ast.Name, ast.Attribute)):
        return [value]
    entries = value.values if isinstance(value, ast.Dict) else getattr(value, "elts", [])
    return [each for each in entries if isinstance(each, (ast.Name, ast.Attribute))]
