"""Two parts are to change places, and both get the same values: the view that keeps the one shows the other by then."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.of_origin import expression_copied
from inplace_magic.hazards.rule import row
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, Region, TensorMetadata
from inplace_magic.record.places import Callsite


@dataclass(frozen=True)
class Copy:
    """A call that copies elements of one tensor over those of another one, or of the same."""

    call: CallEvent
    target: TensorMetadata
    source: TensorMetadata
    mutation: Mutation
    written: Region | None
    read: Region | None


def copy_of(call: CallEvent) -> Copy | None:
    """What a call copied: ``x[i] = y``, ``x.copy_(y)``."""
    if not call.does("assigns") or call.error is not None or len(call.mutations) != 1 or len(call.inputs) != 2:
        return None
    target, source = call.inputs
    if target.storage is None or source.storage is None:
        return None
    written = reach_of_write(call, call.mutations[0])
    return Copy(call, target, source, call.mutations[0], written, region_of(source))


def swapped_through_views(story: Story) -> Iterator[Hazard]:
    """Yield one finding for each place that was to put a view back."""
    seen: set[Callsite | None] = set()
    for call in story.doing("assigns"):
        copy = copy_of(call) if call.callsite not in seen else None
        view = story.innermost_new(copy.source.tensor, call.index) if copy is not None else None
        if copy is None or view is None or view.kind != "view":
            continue
        within_one = copy.target.storage == copy.source.storage
        first = _overwritten_before(story, copy, view) if within_one else _exchanged(story, copy, view)
        if first is not None:
            seen.add(call.callsite)
            yield _swapped(story, copy, first, view)


def _overwritten_before(story: Story, copy: Copy, view: CallEvent) -> CallEvent | None:
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
        other, reach = copy_of(writer), reach_of_write(writer, mutation)
        one_run = writer.callsite is not None and writer.callsite.same_run(call.callsite)
        if other is not None and one_run and (other.written, other.read) == (read, written):
            return writer
        if _are_targets_of_one_statement(writer, call) and reach is not None and may_meet(reach, read):
            return writer
        if may_meet(reach, written) or may_meet(reach, read):
            return None
    return None


def _exchanged(story: Story, copy: Copy, view: CallEvent) -> CallEvent | None:
    """The last write of what is copied back, where that put there what the target holds still: ``kept = a.data``,
    ``a.copy_(b)``, ``b.copy_(kept)``. A backup is copied back as well, but was written by its own name."""
    call, source = copy.call, copy.source
    writes = story.writes_to_storage.get(source.storage or 0, [])
    place = bisect_left(writes, call.index, key=_index) - 1
    if place < 0 or not call.does("copies in") or all(meta.storage != source.storage for meta in view.inputs):
        return None
    first, mutation = writes[place]
    other = copy_of(first)
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


def _swapped(story: Story, copy: Copy, first: CallEvent, view: CallEvent) -> Hazard:
    call, tensor, site = copy.call, first.mutations[0].tensor, view.callsite
    variable = story.bindings.written_name(first, tensor)
    target = story.bindings.written_name(call, copy.mutation.tensor)
    back = call.does("copies in")
    by_library = site is not None and not site.direct
    shown = _("what it read") if site is None or (by_library and not back) else wording.code(site.expression)
    one_line = (call.callsite and call.callsite.line) == (first.callsite and first.callsite.line)
    earlier = copy_of(first)
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
                "{line} copies into {target} the values that {target} holds already: {view} made no copy, and "
                "{write} overwrote its memory with these values. Both now hold the same ones. PyTorch gives no "
                "error."
            )
            if back
            else _(
                "{line} assigns {view} to other elements of {tensor}, but {view} is a view, and {write} "
                "overwrote its elements before: the new values are copied. PyTorch gives no error."
            )
            if not onto_itself
            else _(
                "{line} copies elements of {tensor} onto themselves: {view} is a view, and {write} overwrote it "
                "with these very elements. Both parts now hold the same values. PyTorch gives no error."
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


RULES = (row("swapped-through-views", "silent", swapped_through_views, expression_copied),)
