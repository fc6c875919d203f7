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
from collections.abc import Iterator
from functools import partial
from itertools import islice

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.clone import where_it_was_made
from inplace_magic.hazards.references.engine import Reference, Stale, gone_stale, writes_since
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, TensorMetadata

CODE = "view-outdated"
_MOST = 16
"""Writes after the taking of a view that are looked at."""
_DEEP = 6
"""Calls back from an assigned value in which the old values are looked for."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place."""
    found = gone_stale(story, _views(story), partial(_is_overwritten, story), partial(_reading, story), most=_MOST)
    return map(partial(_hazard, story), found)


def _views(story: Story) -> Iterator[Reference]:
    """The views of filled memory that a line took, and that are used and never written themselves."""
    for made in story.views:
        site = made.callsite
        if site is None or not site.direct or made.does("may hand back") or made.does("gives data"):
            continue
        for view in made.outputs:
            used = view.tensor in story.given_to and view.tensor not in story.writes_to_tensor
            if used and _is_written_after(story, made, view) and _filled(story, made, view):
                yield Reference(view.tensor, view.storage, made.index, site, region=region_of(view))


def _is_written_after(story: Story, made: CallEvent, view: TensorMetadata) -> bool:
    """Whether anybody wrote the memory since: of most views nobody did."""
    writes = story.writes_to_memory(view.storage)
    return bool(writes) and writes[-1].at >= made.index


def _is_overwritten(story: Story, view: Reference, write: Write) -> bool:
    """Whether a line of the same run wrote the view's elements, once, with values that build on the old ones."""
    call, mutation, site = write.call, write.mutation, write.site
    end = story.given_to[view.tensor][-1].index
    if call is None or mutation is None or site is None or write.at >= end:
        return False
    if not site.direct or not site.same_run(view.place):
        return False
    writes = [other.site for other in islice(writes_since(story, view), _MOST) if other.at < end]
    once = writes.count(site) == 1
    return once and may_meet(view.region, reach_of_write(call, mutation)) and _builds_on_old(story, call, view)


def _reading(story: Story, view: Reference, write: Write) -> CallEvent | None:
    """The call of a later statement of the same run that computes with the view."""
    for call in story.given_to[view.tensor]:
        site = call.callsite
        if call.index <= write.at or site is None or call.kind in ("query", "view"):
            continue
        if site.direct and site.same_run(view.place) and not site.same_statement(write.site):
            return call
    return None


def _filled(story: Story, made: CallEvent, view: TensorMetadata) -> bool:
    """Whether the memory held anything when the view was taken."""
    maker = story.maker_of_storage(view.storage)
    if maker is None or not maker.does("buffer"):
        return True
    writes = story.writes_to_storage.get(view.storage or 0, [])
    return bool(writes) and writes[0][0].index < made.index


def _builds_on_old(story: Story, call: CallEvent, view: Reference) -> bool:
    """Whether what a call writes was computed from the old values, and the view is one that nobody would keep as a
    handle."""
    if call.error is not None or call.kind != "in-place":
        return False
    if call.does("assigns"):
        return any(_comes_from(story, meta, view.storage, call.index) for meta in call.inputs[1:])
    single = view.region is not None and math.prod(view.region.shape) == 1
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


def _hazard(story: Story, stale: Stale) -> Hazard:
    view, write = stale.reference, stale.write
    bound = story.bindings.bound.get(view.tensor)
    name = bound[0][1] if bound else story.bindings.name(view.tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{read} reads {view}, a view that {made} took, but {line} had overwritten those elements: a view copies "
            "nothing, so it holds the new values. PyTorch gives no error."
        ).format(
            read=wording.spot(stale.read.callsite),
            view=f"`{name}`" if name else _("a part of the tensor"),
            made=wording.line_of(view.place),
            line=wording.spot(write.site),
        ),
        fix=_("Keep a copy where the view is taken: append `.clone()` in {line}.").format(
            line=wording.code(view.place.expression if view.place is not None else "")
        ),
        variable=story.name_written_by(write),
        origin=view.place,
        read=stale.read,
        tensor=write.mutation.tensor if write.mutation is not None else None,
        write=write,
    )


RULE = Rule(check, {CODE: Cures((where_it_was_made,))})
