"""Two results were kept under two names, and they are one tensor: the second one overwrote the first."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent
from inplace_magic.record.paths import is_gradient
from inplace_magic.source import expressions
from inplace_magic.source.spots import Top

CODE = "results-share-memory"

_MOST_NAMES = 8
"""Names of one tensor that are held against each other, the first ones."""
_VARIABLE = re.compile(r"([A-Za-z_]\w*)(\[\d+\])?")
"""A tensor or one of a list of tensors: ``first``, ``grads_a[0]``."""


@dataclass(frozen=True)
class _Kept:
    """A name of the cell and the one statement that binds it."""

    name: str
    statement: ast.Assign
    gradient: bool


def results_share_memory(story: Story) -> Iterator[Found]:
    """Yield the writes of what a name of the cell keeps, and that is read by this name as if nobody had written it."""
    for top, (tensor, names) in product(story.tops, story.names.items()):
        kept = _all_kept(story, top, tensor, names)
        kept = sorted(kept, key=lambda entry: entry.statement.lineno)[:_MOST_NAMES]
        for first, second in combinations(kept, 2):
            found = _overwritten(story, top, tensor, first, second)
            if found is not None:
                yield _found(story, tensor, *found, {"first": first.name, "second": second.name})
        for first in kept:
            found = _cleared(story, top, tensor, first)
            if found is not None:
                yield _found(story, tensor, *found, {"first": first.name}, message=_THE_GRADIENT)


def _found(story: Story, tensor: int, write: Write, read: CallEvent, words: dict[str, str], message: str = "") -> Found:
    gradient = next((name for name in story.names.get(tensor, ()) if is_gradient(name)), None)
    variable = story.name_written_by(write) or gradient or words["first"]
    return Found({"write": write, "read": read}, tensor, variable, words, message=message)


_THE_GRADIENT = N_(
    "{write} overwrote `{first}`, and {read} reads the new values: `{first}` is the gradient itself, not a "
    "copy. PyTorch gives no error."
)


def _all_kept(story: Story, top: Top, tensor: int, names: list[str]) -> list[_Kept]:
    """The names of a tensor that these lines bind; not another function's, which may stand for another tensor here."""
    local = story.bindings.local
    here = [name for name in names if top.whose[2] == "<module>" or local.get((top.whose, name)) == tensor]
    matches = (_VARIABLE.fullmatch(name) for name in here)
    roots = dict.fromkeys(match[1] for match in matches if match is not None)
    return [entry for root in roots if (entry := _kept(top, root)) is not None]


def _kept(top: Top, name: str) -> _Kept | None:
    """A name that one statement of the cell binds, to the result of a call or to gradients, and nothing else does."""
    listing = top.listing
    bound = [node for node in listing.stores.get(name, ()) if top.is_own(node)]
    statement = listing.statement_on(bound[0].lineno) if len(bound) == 1 else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    value = statement.value
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        value = value.elt
    if isinstance(value, ast.Attribute) and value.attr == "grad":
        return _Kept(name, statement, gradient=True)
    return _Kept(name, statement, gradient=False) if isinstance(statement.value, ast.Call) else None


def _overwritten(story: Story, top: Top, tensor: int, first: _Kept, second: _Kept) -> tuple[Write, CallEvent] | None:
    """Return the write that came between the two statements, and the first call after it that reads the first name."""
    meta = story.observations.get(tensor)
    if meta is None or meta.is_trainable or first.statement is second.statement:
        return None
    if first.name in expressions.variables_read(second.statement.value):
        return None
    end = second.statement.end_lineno or second.statement.lineno
    after = first.statement.end_lineno or first.statement.lineno
    places = ((write, top.place(write.site)) for write in story.writes_to_memory(meta.storage))
    write = next((write for write, place in places if place is not None and after < place.line <= end), None)
    for call in story.given_to.get(tensor, ()) if write is not None else ():
        place = top.place(call.callsite)
        later = place is not None and place.line > end and call.looks_at_values
        if write is None or place is None or not later or call.index <= write.at:
            continue
        if first.name in expressions.variables_read(expressions.parse(place.statement)):
            return write, call
    return None


def _cleared(story: Story, top: Top, tensor: int, first: _Kept) -> tuple[Write, CallEvent] | None:
    """A read, under the name of a gradient, of the zeros that ``zero_grad(set_to_none=False)`` has just written."""
    meta = story.observations.get(tensor)
    for write in story.writes_to_memory(meta.storage) if first.gradient and meta is not None else ():
        place, zeroed = top.place(write.site), write.call is not None and write.call.does("zeroes")
        if not zeroed or place is None or place.line <= first.statement.lineno or write.mutation is None:
            continue
        if first.name in expressions.variables_read(expressions.parse(place.statement)):
            return None  # zeroed by way of that very name: a handle
        read = next((call for call in story.given_to.get(tensor, ()) if call.index > write.at), None)
        if read is None or not read.looks_at_values or read.kind == "in-place":
            continue
        version = next(given.version for given in read.inputs if given.tensor == tensor)
        site = top.place(read.callsite)
        named = site is not None and first.name in expressions.variables_read(expressions.parse(site.statement))
        if named and version == write.after:
            return write, read
    return None


def first_one_copied(write: Written) -> Fix | None:
    """``first = torch.mm(a, b, out=buffer).clone()``, ``raw = [p.grad.clone() for p in …]``."""
    story = write.story
    names = story.names.get(write.hazard.tensor or -1, [])
    both = ((top, top.place(write.hazard.read), top.place(write.site)) for top in reversed(story.tops))
    top, read, wrote = next((found for found in both if all(found)), (None, None, None))
    if top is None or read is None or wrote is None:
        return None
    kept = _all_kept(story, top, write.hazard.tensor or -1, names)
    named = expressions.variables_read(expressions.parse(read.statement))
    earlier = [entry for entry in kept if entry.statement.lineno < wrote.line and entry.name in named]
    value = earlier[0].statement.value if len(earlier) == 1 else None
    if isinstance(value, ast.ListComp):
        return write.copied(value.elt)
    return write.copied(value) if value is not None and earlier[0].name in names else None  # a list has no `clone`


RULES = rules_of(
    Row(
        CODE,
        "warning",
        results_share_memory,
        Calls(write="write"),
        message=N_(
            "{write} overwrote `{first}`, and {read} reads the new values: `{first}` and `{second}` are one tensor. "
            "PyTorch gives no error."
        ),
        fix=N_("Keep a copy under the first name: bind `{first}` to a `.clone()`."),
        ways=(first_one_copied,),
    ),
)
