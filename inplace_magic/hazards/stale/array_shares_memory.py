"""A NumPy array was kept as a record of a tensor, and torch then wrote the tensor: the record shows the new values.

In ``before = x.numpy(); x += 1; after = x.numpy()`` the difference of the two is zero.

Tensors that were taken one after the other from one array, which somebody filled anew each time, all show its last
values as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.of_origin import array_copied
from inplace_magic.hazards.references.slots import names, read_parts
from inplace_magic.hazards.rule import Calls, Event, Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.expressions import assignments
from inplace_magic.source.listing import FUNCTIONS, LOOPS
from inplace_magic.source.spots import Spot, spot_of

_FIRST = 20
"""Arrays of one memory that are held against each other."""


def subtracted(story: Story, taken: dict[int | None, list[CallEvent]]) -> Iterator[Found]:
    """Yield the arrays of which the difference from a later one of the same memory is taken, in one run of a function:
    ``before = x.numpy(); x += 1; after = x.numpy(); after - before``."""
    for calls in taken.values():
        for place, older in enumerate(calls[:_FIRST]):
            pairs = (_difference(story, older, newer) for newer in calls[place + 1 : _FIRST])
            yield from islice((found for found in pairs if found is not None), 1)


def _difference(story: Story, older: CallEvent, newer: CallEvent) -> Found | None:
    """Return what is found of two arrays of which the difference is taken."""
    region, wrote = region_of(older.inputs[0]), _written_between(story, older, newer.index)
    first, second = _bound(older), _bound(newer)
    if wrote is None or first is None or second is None or region is None or region != region_of(newer.inputs[0]):
        return None
    (site, name), (later, other) = first, second
    spot, kept = spot_of(story.trace, later), spot_of(story.trace, site)
    if name == other or spot is None or kept is None or not later.same_run(site):
        return None
    differ = _subtracts(spot, {name, other}) and not _bound_anew(kept, name)
    return _found(story, older, wrote, name) if differ else None


def _bound(call: CallEvent) -> tuple[Callsite, str] | None:
    """Return the statement that bound an array to a name, be it that functions handed the array out."""
    site = call.callsite.handed_to if call.callsite is not None else None
    names = site.bound if site is not None else None
    if site is None or names is None or len(names) != 1 or names[0] is None:
        return None
    return site, names[0]


def _subtracts(spot: Spot, both: set[str]) -> bool:
    """True if a line below takes the difference of the two."""
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and node.lineno > spot.statement.lineno
        and {expressions.path_text(node.left), expressions.path_text(node.right)} == both
        for node in ast.walk(spot.scope)
    )


def _bound_anew(spot: Spot, name: str) -> bool:
    """True if the older name got something else, as in ``before = before.copy()``."""
    stored = (node for node in ast.walk(spot.scope) if isinstance(getattr(node, "ctx", None), ast.Store))
    parts = [part for node in stored if not isinstance(node, (ast.Tuple, ast.List)) for part in ast.walk(node)]
    return sum(expressions.path_text(part) == name for part in parts) > 1


CODE = "array-shares-memory"

_STORING = ("append", "insert", "appendleft")
_CONTAINERS = ("list", "dict", "defaultdict", "OrderedDict")


def array_shares_memory(story: Story) -> Iterator[Found]:
    """Yield the lines that keep an array of which torch then wrote the memory."""
    given = [call for call in story.doing("gives array") if call.inputs]
    first: dict[tuple[Callsite | None, int | None], CallEvent] = {}
    for call in given:
        before = first.setdefault((call.callsite, call.inputs[0].storage), call)
        spot = spot_of(story.trace, call.callsite) if before is not call else None
        kept = _kept_in(spot, call.callsite) if spot is not None else None
        write = _written_between(story, before, call.index) if kept is not None else None
        if spot is not None and kept is not None and write is not None and _read_below(spot, kept):
            yield _found(story, call, write, kept)
    known = (call for call in given if call.error is None and call.inputs[0].storage is not None)
    yield from subtracted(story, grouped((call.inputs[0].storage, call) for call in known))


def _written_between(story: Story, before: CallEvent, end: int) -> Write | None:
    writes = story.writes_between(before.inputs[0].storage, before.index, end)
    return next((write for write in writes if write.site is not None), None)


def _kept_in(spot: Spot, site: Callsite | None) -> str | None:
    """Return the list or dict into which a statement that runs again puts the array itself."""
    node = spot.listing.expression_at(site) if site is not None else None
    if node is None or not any(isinstance(around, (*LOOPS, *FUNCTIONS)) for around in spot.around):
        return None
    above = spot.listing.parents.get(node)
    if isinstance(above, ast.Call) and node in above.args and isinstance(above.func, ast.Attribute):
        return expressions.path_text(above.func.value) if above.func.attr in _STORING else None
    target = above.targets[0] if isinstance(above, ast.Assign) and len(above.targets) == 1 else None
    if not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Constant):
        return None  # `latest["w"] = …` is there to show the last values
    name = expressions.path_text(target.value)
    given = (value for each, value in assignments(spot.listing.nodes) if expressions.path_text(each) == name)
    return name if name is not None and any(map(_is_a_container, given)) else None


def _is_a_container(value: ast.expr) -> bool:
    """True if an expression makes a list or a dict, which keep what is put into them: an array copies its values."""
    if isinstance(value, ast.Call):
        return expressions.last_name(value.func) in _CONTAINERS
    return isinstance(value, (ast.Dict, ast.List, ast.DictComp, ast.ListComp, ast.BinOp))


def _read_below(spot: Spot, name: str) -> bool:
    """True if a later line of the cell, or of the function, reads the list."""
    last = name.rpartition(".")[2]
    for statement in spot.listing.nodes:
        if isinstance(statement, ast.stmt) and statement.lineno > spot.statement.lineno:
            heads = [statement.iter] if isinstance(statement, ast.For) else []
            if any(names(node, last) for part in (*heads, *read_parts(statement)) for node in ast.walk(part)):
                return True
    return False


def _found(story: Story, call: CallEvent, write: Write, kept: str) -> Found:
    tensor = write.mutation.tensor if write.mutation is not None else call.inputs[0].tensor
    name = story.name_written_by(write) or story.bindings.name(call.inputs[0].tensor)
    array = wording.code(call.callsite.expression) if call.callsite is not None else _("the array")
    return Found({"line": call, "write": write}, tensor, name, {"kept": kept, "array": array})


def buffer_gathered(story: Story) -> Iterator[Found]:
    """Yield the lines that take such tensors."""
    foreign = {storage.storage for storage in story.trace.storages if storage.foreign}
    for call in story.doing("gathers") if foreign else ():
        alike = grouped(((meta.storage, region_of(meta)), meta.tensor) for meta in call.inputs)
        for (storage, _region), tensors in alike.items() if call.error is None else ():
            met = sorted(story.first_seen(tensor) for tensor in tensors)
            between = story.writes_between(storage, met[0], met[-1] + 1)
            write = next((write for write in between if write.foreign is not None), None)
            if write is not None:
                yield _gathered(story, call, list(dict.fromkeys(tensors)), write)


def _gathered(story: Story, call: CallEvent, tensors: list[int], write: Write) -> Found:
    maker = story.innermost_new(tensors[-1], call.index)
    arrays = write.foreign.names if write.foreign is not None else ()
    words: dict[str, object] = {"count": len(tensors)}
    if maker is None or maker.callsite is None:
        words["taken"] = _("what gave them")
    if write.site is None:
        words["writer"] = _("code outside PyTorch")
    calls: dict[str, Event | None] = {"writer": write, "line": call, "taken": maker}
    return Found(calls, variable=arrays[0] if arrays else None, words=words)


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
    Row(
        "buffer-gathered",
        "warning",
        buffer_gathered,
        Calls(write="writer", read="line", origin="taken"),
        message=N_(
            "{line} joins {count} tensors that share one memory: {taken} copied nothing, and {writer} filled "
            "the memory again in between, so all of them show its last values. PyTorch gives no error."
        ),
        fix=N_("Copy the values when you take them: `torch.tensor(array)`, or append `.clone()`."),
    ),
)
