"""Two parts of a tensor were to change places, and both got the same values.

``x[0]`` is a view. In ``x[0], x[1] = x[1], x[0]`` the first assignment overwrites what the view ``x[0]`` on the right
shows, and the second one copies it: both rows end as the old ``x[1]`` (pytorch/pytorch issue 17008). The same happens
to ``tmp = x[0]; x[0] = x[1]; x[1] = tmp``.

Bad::

    x[0], x[1] = x[1], x[0]

Good::

    x[[0, 1]] = x[[1, 0]]

Found where a view was taken, an assignment then overwrote it with the very elements that it was to replace, and the
view was assigned to those: the second assignment copies elements onto themselves. So is a rotation, ``x[0], x[1], x[2]
= x[1], x[2], x[0]``, of which one target overwrites a value that a later one needs. So are two tensors or two modules,
``kept = a.state_dict()``, ``a.load_state_dict(b.state_dict())``, ``b.load_state_dict(kept)``: an alias that nobody read
is copied to where its new values have come from. Silent for entries of a list, which change places as names do, and
where what is copied back was written by its own name, as a backup is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.of_origin import expression_copied
from inplace_magic.hazards.references.twice.copied_back import copied_back
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, Region
from inplace_magic.record.places import Callsite

CODE = "swapped-through-views"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place that was to put the view back."""
    seen: set[Callsite | None] = set()
    for call in story.doing("assigns"):
        if call.callsite in seen or not _assigns(call):
            continue
        view = story.innermost_new(call.inputs[1].tensor, call.index)
        first = _overwritten_before(story, call, view) if view is not None and view.kind == "view" else None
        if view is not None and first is not None:
            seen.add(call.callsite)
            yield _hazard(story, call, first, view)
    for call, first, view in copied_back(story):
        if call.callsite not in seen:
            seen.add(call.callsite)
            yield _hazard(story, call, first, view)


def _assigns(call: CallEvent) -> bool:
    """``x[i] = y`` with one written region, where both are parts of one storage."""
    if not call.does("assigns") or call.error is not None or len(call.mutations) != 1:
        return False
    return (
        len(call.inputs) == 2
        and call.inputs[0].storage is not None
        and call.inputs[0].storage == call.inputs[1].storage
    )


def _overwritten_before(story: Story, call: CallEvent, view: CallEvent) -> CallEvent | None:
    """The assignment into the view's elements, after the view was taken, from the very elements that `call` assigns
    now."""
    written, read = _regions(call)
    if written is None or read is None or written == read:
        return None
    writes = story.writes_to_storage.get(call.inputs[0].storage or 0, [])
    for place in range(bisect_left(writes, call.index, key=_index) - 1, -1, -1):
        writer, mutation = writes[place]
        if writer.index <= view.index:
            return None
        one_run = writer.callsite is not None and writer.callsite.same_run(call.callsite)
        if _assigns(writer) and _regions(writer) == (read, written) and one_run:
            return writer
        reach = reach_of_write(writer, mutation)
        if _are_targets_of_one_statement(writer, call) and reach is not None and may_meet(reach, read):
            return writer
        if may_meet(reach, written) or may_meet(reach, read):
            return None
    return None


def _index(write: tuple[CallEvent, Mutation]) -> int:
    return write[0].index


def _regions(call: CallEvent) -> tuple[Region | None, Region | None]:
    """The elements that an assignment wrote, and those that it read."""
    return reach_of_write(call, call.mutations[0]), region_of(call.inputs[1])


def _are_targets_of_one_statement(one: CallEvent, other: CallEvent) -> bool:
    """Whether two assignments are targets of one statement, whose values are all there before the first of them."""
    first, second = one.callsite, other.callsite
    if first is None or second is None:
        return False
    return first.same_statement(second) and first.expression != second.expression


def _hazard(story: Story, call: CallEvent, first: CallEvent, view: CallEvent) -> Hazard:
    tensor = first.mutations[0].tensor
    variable = story.bindings.written_name(first, tensor)
    target = story.bindings.written_name(call, call.mutations[0].tensor)
    site = view.callsite
    back = call.does("copies in")
    by_library = site is not None and not site.direct and not back  # it exchanges them, as `random.shuffle` does
    shown = _("what it read") if site is None or by_library else wording.code(site.expression)
    one_line = (call.callsite and call.callsite.line) == (first.callsite and first.callsite.line)
    onto_itself = _regions(first) == _regions(call)[::-1]
    keep = _("Copy what is to be kept before it is overwritten: append `.clone()` to {view}.").format(view=shown)
    if by_library:
        keep = _("Let one indexing change their order, such as `x[torch.randperm(len(x))]`, which makes a new tensor.")
    if back and site is not None and not site.direct:
        keep = _(
            "Take a copy where the old values are kept: `.detach().clone()`, or `copy.deepcopy(model.state_dict())`."
        )
    return Hazard(
        code=CODE,
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
        mutations=tuple(site for site in (first.callsite, call.callsite) if site is not None),
        origin=view.callsite,
        read=call.callsite,
        read_call=call.index,
        tensor=tensor,
        call=first.index,
    )


RULE = Rule(check, {CODE: Cures((expression_copied,))})
