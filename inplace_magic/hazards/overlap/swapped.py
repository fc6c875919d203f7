"""Two parts are to change places, and both get the same values: the view that keeps the one shows the other by then."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.accesses import index_of
from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.of_origin import expression_copied
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent, Mutation, Region, TensorMetadata


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
    """Return what a call copied: ``x[i] = y``, ``x.copy_(y)``."""
    if not call.does("assigns") or call.error is not None or len(call.mutations) != 1 or len(call.inputs) != 2:
        return None
    target, source = call.inputs
    if target.storage is None or source.storage is None:
        return None
    written = reach_of_write(call, call.mutations[0])
    return Copy(call, target, source, call.mutations[0], written, region_of(source))


def swapped_through_views(story: Story) -> Iterator[Found]:
    """Yield each assignment that was to put a view back."""
    for call in story.doing("assigns"):
        copy = copy_of(call)
        view = story.innermost_new(copy.source.tensor, call.index) if copy is not None else None
        if copy is None or view is None or view.kind != "view":
            continue
        within_one = copy.target.storage == copy.source.storage
        first = _overwritten_before(story, copy, view) if within_one else _exchanged(story, copy, view)
        if first is not None:
            yield _found(story, copy, first, view)


def _overwritten_before(story: Story, copy: Copy, view: CallEvent) -> CallEvent | None:
    """Return the assignment into the view's elements, after the view was taken, from the very elements that are
    assigned now; or another target of the same statement that overwrote some of them, as in a rotation."""
    call, written, read = copy.call, copy.written, copy.read
    if written is None or read is None or written == read:
        return None
    writes = story.writes_to_storage.get(copy.target.storage or 0, [])
    for place in range(bisect_left(writes, call.index, key=index_of) - 1, -1, -1):
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
    place = bisect_left(writes, call.index, key=index_of) - 1
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
    if mutation.changed_nothing or story.is_written_between(copy.target.storage, first.index, call.index):
        return None
    if not all(site is not None and site.same_run(call.callsite) for site in (first.callsite, view.callsite)):
        return None
    between = story.given_between(source.tensor, view.index, call.index)
    return None if any(read.looks_at_values for read in between) else first


def _are_targets_of_one_statement(one: CallEvent, other: CallEvent) -> bool:
    """True if two assignments are targets of one statement, whose values are all there before the first of them."""
    first, second = one.callsite, other.callsite
    if first is None or second is None:
        return False
    return first.same_statement(second) and first.expression != second.expression


def _found(story: Story, copy: Copy, first: CallEvent, view: CallEvent) -> Found:
    call, site = copy.call, view.callsite
    back, by_library = call.does("copies in"), site is not None and not site.direct
    shown = _("what it read") if site is None or (by_library and not back) else wording.code(site.expression)
    target = story.bindings.written_name(call, copy.mutation.tensor)
    words = {"view": shown, "target": f"`{target}`" if target else _("a tensor")}
    if (call.callsite and call.callsite.line) == (first.callsite and first.callsite.line):
        words["write"] = _("the first assignment of that line")
    earlier = copy_of(first)
    onto_itself = earlier is not None and (earlier.written, earlier.read) == (copy.read, copy.written)
    message, fix = _PUT_BACK if back else _ONTO_ITSELF if onto_itself else "", ""
    if by_library:  # it exchanges them, as `random.shuffle` does
        fix = _KEEP_A_COPY if back else _INDEX_ONCE
    return Found(
        {"write": first, "line": call, "view": view}, first.mutations[0].tensor, None, words, None, message, fix
    )


_PUT_BACK = N_(
    "{line} copies into {target} the values that {target} holds already: {view} made no copy, and {write} overwrote "
    "its memory with these values. Both now hold the same ones. PyTorch gives no error."
)
_ONTO_ITSELF = N_(
    "{line} copies elements of {tensor} onto themselves: {view} is a view, and {write} overwrote it "
    "with these very elements. Both parts now hold the same values. PyTorch gives no error."
)
_KEEP_A_COPY = N_(
    "Take a copy where the old values are kept: `.detach().clone()`, or `copy.deepcopy(model.state_dict())`."
)
_INDEX_ONCE = N_("Let one indexing change their order, such as `x[torch.randperm(len(x))]`, which makes a new tensor.")

RULES = rules_of(
    Row(
        "swapped-through-views",
        "silent",
        swapped_through_views,
        Calls(write="write", also="line", read="line", origin="view"),
        message=N_(
            "{line} assigns {view} to other elements of {tensor}, but {view} is a view, and {write} "
            "overwrote its elements before: the new values are copied. PyTorch gives no error."
        ),
        fix=N_("Copy what is to be kept before it is overwritten: append `.clone()` to {view}."),
        ways=(expression_copied,),
    ),
)
