"""A NumPy array was kept as a record of a tensor, and torch then wrote the tensor: the record shows the new values.

In ``before = x.numpy(); x += 1; after = x.numpy()`` the difference of the two is zero.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.of_origin import array_copied
from inplace_magic.hazards.references.slots import read_parts, runs_again
from inplace_magic.hazards.row import Calls, Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, whole_listing
from inplace_magic.source.spots import spot_of

_FIRST = 20
"""Arrays of one memory that are held against each other."""


def subtracted(story: Story, taken: dict[int | None, list[CallEvent]]) -> Iterator[Found]:
    """Yield the arrays of which the difference from a later one of the same memory is taken, in one run of a function:
    ``before = x.numpy(); x += 1; after = x.numpy(); after - before``."""
    for calls in taken.values():
        for place, older in enumerate(calls[:_FIRST]):
            pairs = ((_pair(story, older, newer), newer) for newer in calls[place + 1 : _FIRST])
            name, newer = next((pair for pair in pairs if pair[0] is not None), (None, None))
            write = _written_between(story, older, newer.index) if newer is not None else None
            if name is not None and write is not None:
                yield _found(story, older, write, name)


def _pair(story: Story, older: CallEvent, newer: CallEvent) -> str | None:
    """Return the name of the older array, where its difference from the newer one is taken."""
    region, wrote = region_of(older.inputs[0]), _written_between(story, older, newer.index)
    first, second = _bound(older), _bound(newer)
    if wrote is None or first is None or second is None or region is None or region != region_of(newer.inputs[0]):
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
_CONTAINERS = ("list", "dict", "defaultdict", "OrderedDict")


def array_shares_memory(story: Story) -> Iterator[Found]:
    """Yield the lines that keep an array of which torch then wrote the memory."""
    given = [call for call in story.doing("gives array") if call.inputs]
    first: dict[tuple[Callsite | None, int | None], CallEvent] = {}
    for call in given:
        listing = whole_listing(story.trace, call.callsite)
        before = first.setdefault((call.callsite, call.inputs[0].storage), call)
        kept = _kept_in(story, listing, call.callsite) if listing is not None and before is not call else None
        write = _written_between(story, before, call.index) if kept is not None else None
        if listing is not None and kept is not None and write is not None and _read_below(listing, call.callsite, kept):
            yield _found(story, call, write, kept)
    known = (call for call in given if call.error is None and call.inputs[0].storage is not None)
    yield from subtracted(story, grouped((call.inputs[0].storage, call) for call in known))


def _written_between(story: Story, before: CallEvent, end: int) -> Write | None:
    writes = story.writes_to_memory(before.inputs[0].storage)
    return next((write for write in writes if before.index < write.at < end and write.site is not None), None)


def _kept_in(story: Story, listing: Listing, site: Callsite | None) -> str | None:
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
    name = expressions.path_text(target.value)
    spot = spot_of(story.trace, site) if site is not None and name is not None else None
    made = spot.value_of(name) if spot is not None and name is not None else None
    is_array = isinstance(made, ast.Call) and expressions.last_name(made.func) not in _CONTAINERS
    return None if is_array else name  # `history = np.zeros(…)` copies what is put into it


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


def _found(story: Story, call: CallEvent, write: Write, kept: str) -> Found:
    tensor = write.mutation.tensor if write.mutation is not None else call.inputs[0].tensor
    name = story.name_written_by(write) or story.bindings.name(call.inputs[0].tensor)
    array = wording.code(call.callsite.expression) if call.callsite is not None else _("the array")
    return Found({"line": call, "write": write}, tensor, name, {"kept": kept, "array": array})


RULES = rules_of(
    Row(
        CODE,
        "warning",
        array_shares_memory,
        Calls(write="write", origin="line"),
        message=N_(
            "{line} keeps an array in `{kept}` that shares its memory with the tensor, and {write} then "
            "overwrote that memory: the kept array shows the new values. PyTorch gives no error."
        ),
        fix=N_("Keep a copy: append `.copy()` to {array}."),
        ways=(array_copied,),
    ),
)
