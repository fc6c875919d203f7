"""A NumPy array was kept as a record of a tensor, and torch then wrote the tensor: the record shows the new values.

In ``before = x.numpy(); x += 1; after = x.numpy()`` the difference of the two is zero.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.of_origin import array_copied
from inplace_magic.hazards.references.slots import read_parts, runs_again
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
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
    """Return the name of the older array, where its difference from the newer one is taken."""
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
    """Return the statement that bound an array to a name, be it that functions handed the array out."""
    site = call.callsite.handed_to if call.callsite is not None else None
    names = site.bound if site is not None else None
    if site is None or names is None or len(names) != 1 or names[0] is None:
        return None
    return site, names[0]


def _subtracts(listing: Listing, below: Callsite, names: set[str]) -> bool:
    """True if a line below takes the difference of the two."""
    statement = listing.statement_at(below)
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and node.lineno > below.line
        and {expressions.path_text(node.left), expressions.path_text(node.right)} == names
        for node in (ast.walk(listing.scope_of(statement)) if statement is not None else ())
    )


def _bound_anew(listing: Listing, site: Callsite, name: str) -> bool:
    """True if the older name got something else, as in ``before = before.copy()``."""
    statement = listing.statement_at(site)
    bound = (
        expressions.path_text(part)
        for node in (ast.walk(listing.scope_of(statement)) if statement is not None else ())
        if node is not statement and isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for part in ast.walk(target)
    )
    return name in bound


CODE = "array-shares-memory"

_STORING = ("append", "insert", "appendleft")


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that keeps an array."""
    taken: dict[tuple[Callsite | None, int | None], CallEvent] = {}
    told: set[Callsite | None] = set()
    for call in story.doing("gives array"):
        if not call.inputs or call.callsite in told:
            continue
        listing = whole_listing(story.trace, call.callsite)
        if listing is None:
            continue
        key = (call.callsite, call.inputs[0].storage)
        before = taken.setdefault(key, call)
        kept = _kept_in(listing, call.callsite)
        write = _written_between(story, before, call.index) if before is not call else None
        if kept is not None and write is not None and _read_below(listing, call.callsite, kept):
            told.add(call.callsite)
            yield _hazard(story, call, write, kept)
    for pair in array_pairs(story):
        if pair.older.callsite not in told:
            told.add(pair.older.callsite)
            yield _hazard(story, pair.older, pair.write, pair.name)


def _written_between(story: Story, before: CallEvent, end: int) -> Write | None:
    writes = story.writes_to_memory(before.inputs[0].storage)
    return next((write for write in writes if before.index < write.at < end and write.site is not None), None)


def _kept_in(listing: Listing, site: Callsite | None) -> str | None:
    """Return the list or dict into which a statement that runs again puts the array itself."""
    node = listing.expression_at(site) if site is not None else None
    statement = listing.statement_at(site) if site is not None else None
    if node is None or statement is None or not runs_again(listing, statement):
        return None
    above = listing.parents.get(node)
    if isinstance(above, ast.Call) and node in above.args and isinstance(above.func, ast.Attribute):
        return expressions.path_text(above.func.value) if above.func.attr in _STORING else None
    target = above.targets[0] if isinstance(above, ast.Assign) and len(above.targets) == 1 else None
    if not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Constant):
        return None  # `latest["w"] = …` is there to show the last values
    return expressions.path_text(target.value)


def _read_below(listing: Listing, site: Callsite | None, name: str) -> bool:
    """True if a later line of the cell, or of the function, reads the list."""
    last = name.rpartition(".")[2]
    for statement in listing.nodes:
        if isinstance(statement, ast.stmt) and site is not None and statement.lineno > site.line:
            heads = [statement.iter] if isinstance(statement, ast.For) else []
            for node in (inner for part in (*heads, *read_parts(statement)) for inner in ast.walk(part)):
                if (isinstance(node, ast.Name) and node.id == last) or (
                    isinstance(node, ast.Attribute) and node.attr == last
                ):
                    return True
    return False


def _hazard(story: Story, call: CallEvent, write: Write, kept: str) -> Hazard:
    variable = story.name_written_by(write) or story.bindings.name(call.inputs[0].tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} keeps an array in `{kept}` that shares its memory with the tensor, and {write} then "
            "overwrote that memory: the kept array shows the new values. PyTorch gives no error."
        ).format(line=wording.spot(call.callsite), kept=kept, write=wording.spot(write.site)),
        fix=_("Keep a copy: append `.copy()` to {array}.").format(
            array=wording.code(call.callsite.expression) if call.callsite is not None else _("the array")
        ),
        variable=variable,
        origin=call.callsite,
        tensor=write.mutation.tensor if write.mutation is not None else call.inputs[0].tensor,
        write=write,
    )


RULE = Rule(check, {CODE: Cures((array_copied,))})
