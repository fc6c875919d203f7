"""Elements are overwritten, and a later step of the same statement, run or loop reads them as they were before.

A view shows what stands in memory now. So three things go wrong alike: two parts change places by way of a view of the
one (``swapped-through-views``), a loop copies a row on that it has replaced (``row-overwritten-first``), and a row that
was taken out is overwritten before anybody has read it (``view-overwritten-unread``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial

from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.of_origin import copied_where_taken, expression_copied
from inplace_magic.hazards.rule import row
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, Region, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.source.listing import LOOPS, whole_listing


@dataclass(frozen=True)
class _Copy:
    """A call that copies elements of one tensor over those of another one, or of the same."""

    call: CallEvent
    target: TensorMetadata
    source: TensorMetadata
    mutation: Mutation
    written: Region | None
    read: Region | None


def _copy_of(call: CallEvent) -> _Copy | None:
    """What a call copied: ``x[i] = y``, ``x.copy_(y)``."""
    if not call.does("assigns") or call.error is not None or len(call.mutations) != 1 or len(call.inputs) != 2:
        return None
    target, source = call.inputs
    if target.storage is None or source.storage is None:
        return None
    written = reach_of_write(call, call.mutations[0])
    return _Copy(call, target, source, call.mutations[0], written, region_of(source))


def swapped_through_views(story: Story) -> Iterator[Hazard]:
    """Yield one finding for each place that was to put a view back."""
    seen: set[Callsite | None] = set()
    for call in story.doing("assigns"):
        copy = _copy_of(call) if call.callsite not in seen else None
        view = story.innermost_new(copy.source.tensor, call.index) if copy is not None else None
        if copy is None or view is None or view.kind != "view":
            continue
        within_one = copy.target.storage == copy.source.storage
        first = _overwritten_before(story, copy, view) if within_one else _exchanged(story, copy, view)
        if first is not None:
            seen.add(call.callsite)
            yield _swapped(story, copy, first, view)


def _overwritten_before(story: Story, copy: _Copy, view: CallEvent) -> CallEvent | None:
    """The assignment into the view's elements, after the view was taken, from the very elements that are assigned now;
    or another target of the same statement that overwrote some of them, as in a rotation."""
    call, written, read = copy.call, copy.written, copy.read
    if written is None or read is None or written == read:
        return None
    writes = story.writes_to_storage.get(copy.target.storage or 0, [])
    for place in range(bisect_left(writes, call.index, key=_index) - 1, -1, -1):
        writer, mutation = writes[place]
        if writer.index <= view.index:
            return None
        other, reach = _copy_of(writer), reach_of_write(writer, mutation)
        one_run = writer.callsite is not None and writer.callsite.same_run(call.callsite)
        if other is not None and one_run and (other.written, other.read) == (read, written):
            return writer
        if _are_targets_of_one_statement(writer, call) and reach is not None and may_meet(reach, read):
            return writer
        if may_meet(reach, written) or may_meet(reach, read):
            return None
    return None


def _exchanged(story: Story, copy: _Copy, view: CallEvent) -> CallEvent | None:
    """The last write of what is copied back, where that put there what the target holds still: ``kept = a.data``,
    ``a.copy_(b)``, ``b.copy_(kept)``. A backup is copied back as well, but was written by its own name."""
    call, source = copy.call, copy.source
    writes = story.writes_to_storage.get(source.storage or 0, [])
    place = bisect_left(writes, call.index, key=_index) - 1
    if place < 0 or not call.does("copies in") or all(meta.storage != source.storage for meta in view.inputs):
        return None
    first, mutation = writes[place]
    other = _copy_of(first)
    if other is None or first.index <= view.index or not first.does("copies in") or mutation.tensor == source.tensor:
        return None
    if other.source.storage != copy.target.storage or copy.read is None:
        return None
    if (other.written, other.read) != (copy.read, region_of(copy.target)):
        return None
    same = mutation.values_before is not None and mutation.values_before == mutation.values_after
    if same or story.is_written_between(copy.target.storage, first.index, call.index):
        return None
    if not all(site is not None and site.same_run(call.callsite) for site in (first.callsite, view.callsite)):
        return None
    between = story.given_between(source.tensor, view.index, call.index)
    return None if any(read.looks_at_values for read in between) else first


def _index(write: tuple[CallEvent, Mutation]) -> int:
    return write[0].index


def _are_targets_of_one_statement(one: CallEvent, other: CallEvent) -> bool:
    """True if two assignments are targets of one statement, whose values are all there before the first of them."""
    first, second = one.callsite, other.callsite
    if first is None or second is None:
        return False
    return first.same_statement(second) and first.expression != second.expression


def _swapped(story: Story, copy: _Copy, first: CallEvent, view: CallEvent) -> Hazard:
    call, tensor, site = copy.call, first.mutations[0].tensor, view.callsite
    variable = story.bindings.written_name(first, tensor)
    target = story.bindings.written_name(call, copy.mutation.tensor)
    back = call.does("copies in")
    by_library = site is not None and not site.direct
    shown = _("what it read") if site is None or (by_library and not back) else wording.code(site.expression)
    one_line = (call.callsite and call.callsite.line) == (first.callsite and first.callsite.line)
    earlier = _copy_of(first)
    onto_itself = earlier is not None and (earlier.written, earlier.read) == (copy.read, copy.written)
    keep = _("Copy what is to be kept before it is overwritten: append `.clone()` to {view}.").format(view=shown)
    if by_library and back:
        keep = _(
            "Take a copy where the old values are kept: `.detach().clone()`, or `copy.deepcopy(model.state_dict())`."
        )
    elif by_library:  # it exchanges them, as `random.shuffle` does
        keep = _("Let one indexing change their order, such as `x[torch.randperm(len(x))]`, which makes a new tensor.")
    return Hazard(
        code="swapped-through-views",
        severity="silent",
        message=(
            _(
                "{line} copies into {target} what it holds already: {view} made no copy, and {write} had overwritten "
                "what it shows with just these values. Both now hold the same ones. PyTorch gives no error."
            )
            if back
            else _(
                "{line} assigns {view} to other elements of {tensor}, but {view} is a view, and {write} had "
                "overwritten what it shows: the new values are copied. PyTorch gives no error."
            )
            if not onto_itself
            else _(
                "{line} copies elements of {tensor} onto themselves: {view} is a view, and {write} had overwritten "
                "what it shows with just these elements. Both parts now hold the same values. PyTorch gives no error."
            )
        ).format(
            line=wording.spot(call.callsite),
            tensor=f"`{variable}`" if variable else _("a tensor"),
            target=f"`{target}`" if target else _("a tensor"),
            view=shown,
            write=_("the first assignment of that line") if one_line else wording.spot(first.callsite),
        ),
        fix=keep,
        variable=variable,
        mutation=first.callsite,
        mutations=tuple(place for place in (first.callsite, call.callsite) if place is not None),
        origin=site,
        read=call.callsite,
        read_call=call.index,
        tensor=tensor,
        call=first.index,
    )


@dataclass
class _Go:
    """Passes of one line, or of lines of one loop that each move the rows of a tensor of its own and nothing else."""

    site: Callsite | None = None
    copied: bool = False
    """Whether the line has moved a row in this pass."""
    replaced: dict[tuple[int | None, Region], Region] = field(default_factory=dict)
    lines: dict[int | None, Callsite] = field(default_factory=dict)
    """By memory: the line that moves its rows."""


def row_overwritten_first(story: Story) -> Iterator[Hazard]:
    """Yield one finding for each line that copies rows of a tensor which its earlier passes have replaced."""
    if not story.doing("sets item"):
        return
    go, seen, same_loop = _Go(), set(), cache(partial(_same_loop, story))
    for call in story.trace.calls:
        site = call.callsite
        if call.kind == "query":
            continue
        if site is None or go.site is None or not go.site.same_statement(site):
            is_beside = site is not None and go.site is not None and go.copied and site.same_run(go.site)
            go = replace(go, site=site, copied=False) if is_beside and same_loop(site, go.site) else _Go(site)
        copy = _copy_of(call) if call.does("sets item") else None
        written = copy.mutation.region if copy is not None else None
        if copy is None or site is None or site in seen or written is None or copy.read is None:
            continue
        storage = copy.target.storage
        if storage != copy.source.storage:
            continue
        if not go.lines.setdefault(storage, site).same_statement(site):
            go = _Go(site, lines={storage: site})  # two lines that move rows of one tensor
        go.copied = True
        if go.replaced.get((storage, copy.read), copy.read) != copy.read:
            seen.add(site)
            yield _moved(story, copy)
        go.replaced[storage, written] = copy.read


def _same_loop(story: Story, one: Callsite, other: Callsite) -> bool:
    """True if the innermost loops around two places are one."""
    inner = []
    for site in (one, other):
        listing = whole_listing(story.trace, site)
        statement = listing.statement_at(site) if listing is not None else None
        around = listing.around(statement) if listing is not None and statement is not None else ()
        inner.append(next((node for node in around if isinstance(node, LOOPS)), None))
    return inner[0] is not None and inner[0] is inner[1]


def _moved(story: Story, copy: _Copy) -> Hazard:
    tensor = copy.mutation.tensor
    name = story.bindings.written_name(copy.call, tensor) or story.bindings.name(tensor)
    return finding(
        "row-overwritten-first",
        "silent",
        message=_(
            "{line} copies a part of {tensor} that an earlier pass of the line had replaced, so it is not the part "
            "that stood there when the loop began. PyTorch gives no error."
        ).format(line=wording.spot(copy.call.callsite), tensor=f"`{name}`" if name else _("the tensor")),
        fix=_("Take all parts at once, with an index (`x = x[order]`), or read from a copy (`old = x.clone()`)."),
        variable=name,
        tensor=tensor,
        write=copy.call,
    )


def view_overwritten_unread(story: Story) -> Iterator[Hazard]:
    """Yield one finding for each assignment to just the elements of a row that somebody took and had not read."""
    taken: dict[tuple[int | None, Region | None], CallEvent] = {}
    seen = set()
    for call in story.doing("gives item", "sets item") if story.doing("sets item") else ():
        if call.error is not None or call.callsite is None or not call.callsite.direct:
            continue
        if call.kind == "view" and _takes_an_item(call):
            taken[call.outputs[0].storage, region_of(call.outputs[0])] = call
        if not call.does("sets item") or len(call.mutations) != 1 or call.callsite in seen:
            continue
        written = reach_of_write(call, call.mutations[0])
        view = taken.get((call.mutations[0].storage, written)) if written is not None else None
        read = _first_read(story, view, call) if view is not None else None
        if view is not None and read is not None:
            seen.add(call.callsite)
            yield _unread(story, call, view, read)


def _takes_an_item(call: CallEvent) -> bool:
    """``earlier = pool[i]``: a part with fewer dimensions, which the statement gives a name or hands on as it is."""
    if call.callsite is None or not call.does("gives item") or call.callsite.targets is None or len(call.outputs) != 1:
        return False
    whole, part = call.inputs[0].shape, call.outputs[0].shape
    return whole is not None and part is not None and len(part) < len(whole)


def _first_read(story: Story, view: CallEvent, write: CallEvent) -> CallEvent | None:
    """The first call that got the view, where one run of a function took it and, further down, wrote or called the
    function that wrote, and the read came after that."""
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
    writes = (write for write in story.writes_to_memory(part.storage) if write.at < view.index)
    reached = (reach_of_write(w.call, w.mutation) if w.call and w.mutation else None for w in writes)
    return any(may_meet(region, region_of(part)) for region in reached)


def _unread(story: Story, call: CallEvent, view: CallEvent, read: CallEvent) -> Hazard:
    shown = wording.code(view.callsite.expression) if view.callsite is not None else ""
    targets = view.callsite.targets if view.callsite is not None else None
    named = targets[0] if targets and len(targets) == 1 and targets[0] != "return" else None
    return finding(
        "view-overwritten-unread",
        "warning",
        message=_(
            "{taken} took {view} out before {write} overwrote it, but it is a view and no copy: {read} gets the new "
            "values, and the old ones were never read. PyTorch gives no error."
        ).format(
            taken=wording.spot(view.callsite),
            view=shown,
            write=wording.spot(call.callsite),
            read=wording.spot(read.callsite),
        ),
        fix=_("Copy what is to be kept before it is overwritten: append `.clone()` to {view}.").format(view=shown),
        variable=named or story.bindings.written_name(call, call.mutations[0].tensor),
        origin=view.callsite,
        read=read,
        tensor=call.mutations[0].tensor,
        write=call,
    )


RULES = (
    row("swapped-through-views", "silent", swapped_through_views, expression_copied),
    row("row-overwritten-first", "silent", row_overwritten_first, gives_way=True),
    row("view-overwritten-unread", "warning", view_overwritten_unread, copied_where_taken),
)
