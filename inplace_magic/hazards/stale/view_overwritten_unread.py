"""A row was taken out of a tensor under a name, and was overwritten before anybody had read it.

``pool[i]`` is a view: it shows what stands in `pool`, and not what stood there when it was taken.

Bad::

    earlier = pool[i]
    pool[i] = image
    train_on(earlier)               # the new image

Good::

    earlier = pool[i].clone()
    pool[i] = image
    train_on(earlier)

Told from the record: a function took an item of a tensor, the same run of it assigned other values to just those
elements by way of the tensor, and only then was the item read for the first time. Silent where the item itself is
written, where it is read before, and where the tensor was a buffer (``torch.empty``, ``zeros``, …) in which nothing
stood so far.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.of_origin import copied_where_taken
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Region
from inplace_magic.record.places import Callsite

CODE = "view-overwritten-unread"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each assignment."""
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
            yield _hazard(story, call, view, read)


def _takes_an_item(call: CallEvent) -> bool:
    """``earlier = pool[i]``: a part with fewer dimensions, which the statement gives a name or hands on as it is."""
    site = call.callsite
    if site is None or not call.does("gives item") or site.targets is None or len(call.outputs) != 1:
        return False
    whole, part = call.inputs[0].shape, call.outputs[0].shape
    return whole is not None and part is not None and len(part) < len(whole)


def _first_read(story: Story, view: CallEvent, write: CallEvent) -> CallEvent | None:
    """The first call that got the view, where it came after the write and in the way that tells a mistake."""
    part, target = view.outputs[0], write.mutations[0]
    if not _comes_first(view.callsite, write.callsite) or any(
        given.storage == target.storage for given in write.inputs[1:]
    ):
        return None
    first = next(iter(story.given_to.get(part.tensor, ())), None)
    if first is None or first.index <= write.index or any(m.tensor == part.tensor for m in first.mutations):
        return None
    return first if _held_values(story, view) else None


def _comes_first(taken: Callsite | None, wrote: Callsite | None) -> bool:
    """Whether one run of a function took the view, and further down wrote or called the function that wrote."""
    chain = wrote.chain if wrote is not None else ()
    return taken is not None and any(taken.same_run(place) and taken.line < place.line for place in chain)


def _held_values(story: Story, view: CallEvent) -> bool:
    """Whether anything worth keeping stood where the view was taken."""
    part = view.outputs[0]
    maker = story.maker_of_storage(part.storage)
    if maker is None or not maker.does("buffer"):
        return True
    writes = (write for write in story.writes_to_memory(part.storage) if write.at < view.index)
    reached = (reach_of_write(w.call, w.mutation) if w.call and w.mutation else None for w in writes)
    return any(may_meet(region, region_of(part)) for region in reached)


def _hazard(story: Story, call: CallEvent, view: CallEvent, read: CallEvent) -> Hazard:
    tensor = call.mutations[0].tensor
    shown = wording.code(view.callsite.expression) if view.callsite is not None else ""
    return finding(
        CODE,
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
        variable=_held_name(view) or story.bindings.written_name(call, tensor),
        origin=view.callsite,
        read=read,
        tensor=tensor,
        write=call,
    )


def _held_name(view: CallEvent) -> str | None:
    targets = view.callsite.targets if view.callsite is not None else None
    named = targets[0] if targets and len(targets) == 1 else None
    return named if named != "return" else None


RULE = Rule(check, {CODE: Cures((copied_where_taken,))})
