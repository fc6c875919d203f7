"""A NumPy array was kept as a record of a tensor, and torch then wrote the tensor: the record shows the new
values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.of_origin import array_copied
from inplace_magic.hazards.references.array_pairs import array_pairs
from inplace_magic.hazards.references.objects.slots import read_parts, runs_again
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, whole_listing

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
    """The list or dict into which a statement that runs again puts the array itself."""
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
    """Whether a later line of the cell, or of the function, reads the list."""
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
            "{line} keeps an array in `{kept}` that shares its memory with the tensor, and {write} then overwrote "
            "that: what was kept shows the new values. PyTorch gives no error."
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
