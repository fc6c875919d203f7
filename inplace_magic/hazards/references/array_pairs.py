"""Two NumPy arrays of one tensor, taken before and after a write, of which a line takes the difference: it is zero."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, whole_listing

_FIRST = 20
"""Arrays of one memory that are held against each other."""


@dataclass(frozen=True)
class ArrayPair:
    """``before = x.numpy(); x += 1; after = x.numpy(); after - before``."""

    older: CallEvent
    name: str
    """Of the older array."""
    write: Write


def array_pairs(story: Story) -> Iterator[ArrayPair]:
    """Pairs of names, bound in one run of a function, that stand for one memory; one pair for each older array."""
    taken: dict[int, list[CallEvent]] = {}
    for call in story.doing("gives array"):
        storage = call.inputs[0].storage if call.inputs and call.error is None else None
        if storage is not None:
            taken.setdefault(storage, []).append(call)
    for storage, calls in taken.items():
        for place, older in enumerate(calls[:_FIRST]):
            pair = next((pair for newer in calls[place + 1 : _FIRST] if (pair := _pair(story, older, newer))), None)
            if pair is not None:
                write = next(
                    write
                    for write in story.writes_to_memory(storage)
                    if older.index < write.at and write.site is not None
                )
                yield ArrayPair(older, pair, write)


def _pair(story: Story, older: CallEvent, newer: CallEvent) -> str | None:
    """The name of the older array, where its difference from the newer one is taken."""
    storage, region = older.inputs[0].storage, region_of(older.inputs[0])
    wrote = any(older.index < w.at < newer.index and w.site is not None for w in story.writes_to_memory(storage))
    first, second = _bound(older), _bound(newer)
    if not wrote or first is None or second is None or region is None or region != region_of(newer.inputs[0]):
        return None
    (site, name), (later, other) = first, second
    listing = whole_listing(story.trace, later)
    if name == other or listing is None or not later.same_run(site):
        return None
    return name if _subtracts(listing, later, {name, other}) and not _bound_anew(listing, site, name) else None


def _bound(call: CallEvent) -> tuple[Callsite, str] | None:
    """The statement that bound an array to a name, be it that functions handed the array out."""
    site = call.callsite.handed_to if call.callsite is not None else None
    names = site.bound if site is not None else None
    if site is None or names is None or len(names) != 1 or names[0] is None:
        return None
    return site, names[0]


def _subtracts(listing: Listing, below: Callsite, names: set[str]) -> bool:
    """Whether a line below takes the difference of the two."""
    statement = listing.statement_at(below)
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and node.lineno > below.line
        and {expressions.path_text(node.left), expressions.path_text(node.right)} == names
        for node in (ast.walk(listing.scope_of(statement)) if statement is not None else ())
    )


def _bound_anew(listing: Listing, site: Callsite, name: str) -> bool:
    """Whether the older name got something else, as in ``before = before.copy()``."""
    statement = listing.statement_at(site)
    bound = (
        expressions.path_text(part)
        for node in (ast.walk(listing.scope_of(statement)) if statement is not None else ())
        if node is not statement and isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for part in ast.walk(target)
    )
    return name in bound
