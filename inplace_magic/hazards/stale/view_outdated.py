"""A part of a tensor was kept as a view, the tensor was overwritten, and the view was read as if it were the old part.

A slice or an element of a tensor copies nothing (https://docs.pytorch.org/docs/stable/tensor_view.html): when the
tensor is written, what was taken from it before changes as well.

Bad::

    first = curve[0]
    curve -= curve[-1].item()
    curve *= first / 2              # first has moved with the curve

    left, right = x[:2], x[2:]
    x[:2] = left * c - right * s
    x[2:] = right * c + left * s    # left is the new left

Good::

    first = curve[0].clone()
    curve -= curve[-1].item()
    curve *= first / 2

    left, right = x[:2].clone(), x[2:].clone()
    x[:2] = left * c - right * s
    x[2:] = right * c + left * s

Told from the record alone: a view was taken in a function and is written by nobody itself; a line of the same run of
the function then wrote its elements by way of another tensor, with values that build on the old ones; and a later
statement there computes with the view. Found where the view is a single number, or where the elements were assigned
what was computed from it or from its neighbours. Silent where the same line wrote several times, as it does where a
view is kept to follow what happens, and for a buffer that had not been filled when the view was taken.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator

from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.clone import where_it_was_made
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.places import Callsite

CODE = "view-outdated"
_MOST = 16
"""Writes after the taking of a view that are looked at."""
_DEEP = 6
"""Calls back from an assigned value in which the old values are looked for."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place."""
    seen: set[Callsite | None] = set()
    for made in story.trace.calls:
        site = made.callsite
        taken = made.kind == "view" and not made.does("may hand back") and not made.does("gives data")
        if not taken or site is None or not site.direct:
            continue
        for view in made.outputs:
            found = _outdated(story, made, view)
            if found is not None and found[0].callsite not in seen:
                seen.add(found[0].callsite)
                yield _hazard(story, made, view, *found)


def _outdated(story: Story, made: CallEvent, view: TensorMetadata) -> tuple[CallEvent, Mutation, CallEvent] | None:
    """The write behind a view's back, and the call that reads the view after it."""
    uses = story.given_to.get(view.tensor, [])
    if not uses or view.storage is None or view.tensor in story.writes_to_tensor or not _filled(story, made, view):
        return None
    writes = story.writes_to_storage.get(view.storage, [])
    start = bisect_right(writes, made.index, key=lambda entry: entry[0].index)
    here = [(call, m) for call, m in writes[start : start + _MOST] if call.index < uses[-1].index]
    for call, mutation in here:
        if call.callsite is None or not call.callsite.direct or not call.callsite.same_run(made.callsite):
            continue
        if [other.callsite for other, _mutation in here].count(call.callsite) > 1:
            return None
        if not may_meet(region_of(view), reach_of_write(call, mutation)) or not _builds_on_old(story, call, view):
            continue
        read = next((use for use in uses if use.index > call.index and _computes(use, call, made)), None)
        if read is not None:
            return call, mutation, read
    return None


def _filled(story: Story, made: CallEvent, view: TensorMetadata) -> bool:
    """Whether the memory held anything when the view was taken."""
    maker = story.maker_of_storage(view.storage)
    if maker is None or not maker.does("buffer"):
        return True
    writes = story.writes_to_storage.get(view.storage or 0, [])
    return bool(writes) and writes[0][0].index < made.index


def _builds_on_old(story: Story, call: CallEvent, view: TensorMetadata) -> bool:
    """Whether what a call writes was computed from the old values, and the view is one that nobody would keep as a
    handle."""
    if call.error is not None or call.kind != "in-place":
        return False
    if call.does("assigns"):
        return any(_comes_from(story, meta, view.storage, call.index) for meta in call.inputs[1:])
    single = view.shape is not None and math.prod(view.shape) == 1
    return single and not call.does("repeatable")


def _comes_from(story: Story, meta: TensorMetadata, storage: int | None, before: int) -> bool:
    todo, known = [(meta.tensor, meta.storage)], set()
    for _step in range(_DEEP):
        following = []
        for tensor, memory in todo:
            if memory == storage:
                return True
            maker = story.innermost_new(tensor, before)
            if maker is not None and maker.index not in known:
                known.add(maker.index)
                following += [(given.tensor, given.storage) for given in maker.inputs]
        todo = following
    return False


def _computes(read: CallEvent, write: CallEvent, made: CallEvent) -> bool:
    """Whether a call of a later statement of the same run computes with the view."""
    site = read.callsite
    if site is None or read.kind in ("query", "view") or not site.direct or not site.same_run(made.callsite):
        return False
    return not site.same_statement(write.callsite)


def _hazard(
    story: Story, made: CallEvent, view: TensorMetadata, call: CallEvent, mutation: Mutation, read: CallEvent
) -> Hazard:
    site = call.callsite
    name = _name(story, made, view)
    written = story.bindings.written_name(call, mutation.tensor)
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{read} reads {view}, a view that {made} took, but {line} had overwritten those elements: a view copies "
            "nothing, so it holds the new values. PyTorch gives no error."
        ).format(
            read=wording.spot(read.callsite),
            view=f"`{name}`" if name else _("a part of the tensor"),
            made=wording.line_of(made.callsite),
            line=wording.spot(site),
        ),
        fix=_("Keep a copy where the view is taken: `.clone()` behind {line}.").format(
            line=wording.code(made.callsite.expression if made.callsite is not None else "")
        ),
        variable=written,
        mutation=site,
        mutations=(site,) if site is not None else (),
        origin=made.callsite,
        read=read.callsite,
        read_call=read.index,
        tensor=mutation.tensor,
        call=call.index,
    )


def _name(story: Story, made: CallEvent, view: TensorMetadata) -> str | None:
    bound = story.bindings.bound.get(view.tensor)
    return bound[0][1] if bound else story.bindings.name(view.tensor)


RULE = Rule(check, {CODE: Cures((where_it_was_made,))})
