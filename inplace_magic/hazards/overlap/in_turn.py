"""Elements are overwritten, and a later step of the same chain, run or loop reads them as they were before.

A loop copies a row on that it has replaced (``row-overwritten-first``), a row that was taken out as a view is
overwritten before anybody has read it (``view-overwritten-unread``), and a chain computes its second argument when its
first call has written (``operand-overwritten-first``). Of two parts that change places see ``swapped.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial

from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.of_origin import copied_where_taken
from inplace_magic.hazards.overlap.swapped import copy_of
from inplace_magic.hazards.references.origins import scaled_before
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Region
from inplace_magic.record.places import Callsite
from inplace_magic.source.spots import spot_of


@dataclass
class _Go:
    """Passes of one line, or of lines of one loop that each move the rows of a tensor of its own and nothing else."""

    site: Callsite | None = None
    copied: bool = False
    """True if the line has moved a row in this pass."""
    replaced: dict[tuple[int | None, Region], Region] = field(default_factory=dict)
    lines: dict[int | None, Callsite] = field(default_factory=dict)
    """By memory: the line that moves its rows."""


def row_overwritten_first(story: Story) -> Iterator[Found]:
    """Yield the copies of rows that earlier passes of the line have replaced."""
    if not story.doing("sets item"):
        return
    go, same_loop = _Go(), cache(partial(_same_loop, story))
    for call in story.trace.calls:
        site = call.callsite
        if call.kind == "query":
            continue
        if site is None or go.site is None or not go.site.same_statement(site):
            is_beside = site is not None and go.site is not None and go.copied and site.same_run(go.site)
            go = replace(go, site=site, copied=False) if is_beside and same_loop(site, go.site) else _Go(site)
        copy = copy_of(call) if call.does("sets item") else None
        written = copy.mutation.region if copy is not None else None
        if copy is None or site is None or written is None or copy.read is None:
            continue
        storage = copy.target.storage
        if storage != copy.source.storage:
            continue
        if not go.lines.setdefault(storage, site).same_statement(site):
            go = _Go(site, lines={storage: site})  # two lines that move rows of one tensor
        go.copied = True
        if go.replaced.get((storage, copy.read), copy.read) != copy.read:
            yield Found({"line": call}, copy.mutation.tensor)
        go.replaced[storage, written] = copy.read


def _same_loop(story: Story, one: Callsite, other: Callsite) -> bool:
    """True if the innermost loops around two places are one."""
    spots = [spot_of(story.trace, site) for site in (one, other)]
    first, second = (spot.loops[:1] if spot is not None else [] for spot in spots)
    return bool(first) and first == second


def view_overwritten_unread(story: Story) -> Iterator[Found]:
    """Yield each assignment to just the elements of a row that somebody took and had not read."""
    taken: dict[tuple[int | None, Region | None], CallEvent] = {}
    for call in story.doing("gives item", "sets item") if story.doing("sets item") else ():
        if call.error is not None or call.callsite is None or not call.callsite.direct:
            continue
        if call.kind == "view" and _takes_an_item(call):
            taken[call.outputs[0].storage, region_of(call.outputs[0])] = call
        if not call.does("sets item") or len(call.mutations) != 1:
            continue
        written = reach_of_write(call, call.mutations[0])
        view = taken.get((call.mutations[0].storage, written)) if written is not None else None
        read = _first_read(story, view, call) if view is not None else None
        if view is not None and view.callsite is not None and read is not None:
            targets = view.callsite.targets
            named = targets[0] if targets and len(targets) == 1 and targets[0] != "return" else None
            words = {"view": wording.code(view.callsite.expression)}
            yield Found({"taken": view, "write": call, "read": read}, call.mutations[0].tensor, named, words)


def _takes_an_item(call: CallEvent) -> bool:
    """``earlier = pool[i]``: a part with fewer dimensions, which the statement gives a name or hands on as it is."""
    if call.callsite is None or not call.does("gives item") or call.callsite.targets is None or len(call.outputs) != 1:
        return False
    whole, part = call.inputs[0].shape, call.outputs[0].shape
    return whole is not None and part is not None and len(part) < len(whole)


def _first_read(story: Story, view: CallEvent, write: CallEvent) -> CallEvent | None:
    """Return the first call that got the view, where one run of a function took it and, further down, wrote or called
    the function that wrote, and the read came after that."""
    part, target, taken = view.outputs[0], write.mutations[0], view.callsite
    chain = write.callsite.chain if write.callsite is not None else ()
    if taken is None or not any(taken.same_run(place) and taken.line < place.line for place in chain):
        return None
    first = next(iter(story.given_to.get(part.tensor, ())), None)
    if first is None or first.index <= write.index or any(m.tensor == part.tensor for m in first.mutations):
        return None
    on_itself = any(given.storage == target.storage for given in write.inputs[1:])
    return first if not on_itself and _held_values(story, view) else None


def _held_values(story: Story, view: CallEvent) -> bool:
    """True if anything worth keeping stood where the view was taken."""
    part = view.outputs[0]
    maker = story.maker_of_storage(part.storage)
    if maker is None or not maker.does("buffer"):
        return True
    writes = story.writes_between(part.storage, -1, view.index)
    return any(may_meet(write.reach, region_of(part)) for write in writes)


def operand_overwritten_first(story: Story) -> Iterator[Found]:
    """Yield each chain such as ``x.mul_(a).add_(b * x.flip(0))``, whose argument Python computes when the first call
    has written."""
    for call in story.doing("shifts"):
        if call.callsite is None or call.error is not None or len(call.mutations) != 1:
            continue
        tensor = call.mutations[0].tensor
        scaling = scaled_before(story, call)
        name = story.bindings.written_name(scaling, tensor) if scaling is not None else None
        if scaling is not None and name is not None and _is_read_whole(story, scaling, call, tensor):
            first = scaling.callsite.expression if scaling.callsite is not None else ""
            yield Found({"line": call}, tensor, name, {"name": name, "first": wording.code(first)})


def _is_read_whole(story: Story, scaling: CallEvent, adding: CallEvent, tensor: int) -> bool:
    """True if something of the tensor's size was computed from it between the two writes."""
    for read in story.given_between(tensor, scaling.index, adding.index):
        shape = next(meta.shape for meta in read.inputs if meta.tensor == tensor)
        if shape is not None and math.prod(shape) > 1 and any(output.shape == shape for output in read.outputs):
            return True
    return False


RULES = rules_of(
    Row(
        "operand-overwritten-first",
        "warning",
        operand_overwritten_first,
        message=N_(
            "{first} overwrote `{name}` before {line} reads it in the argument of its last call: Python evaluates a "
            "chain from left to right, so the argument is computed from the new values. PyTorch gives no error."
        ),
        fix=N_("Compute the argument in a statement before, or do not write in place: `{name} = {name} * … + …`."),
    ),
    Row(
        "row-overwritten-first",
        "silent",
        row_overwritten_first,
        message=N_(
            "{line} copies a part of {tensor} that an earlier pass of the line had overwritten, so the copied "
            "values are not those from when the loop began. PyTorch gives no error."
        ),
        fix=N_("Take all parts at once, with an index (`x = x[order]`), or read from a copy (`old = x.clone()`)."),
        nameless=N_("the tensor"),
        gives_way=True,
    ),
    Row(
        "view-overwritten-unread",
        "warning",
        view_overwritten_unread,
        Calls(write="write", origin="taken"),
        message=N_(
            "{taken} took {view} before {write} overwrote it, but {view} is a view, not a copy: {read} reads "
            "the new values, and nothing read the old ones. PyTorch gives no error."
        ),
        fix=N_("Copy what is to be kept before it is overwritten: append `.clone()` to {view}."),
        ways=(copied_where_taken,),
    ),
    every_call=True,
)
