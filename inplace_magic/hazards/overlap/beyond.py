"""A call laid a tensor over elements that belong to another one: a result that outgrew its place, ``resize_``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.analysis.overlap import lies_within, may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import row
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Region, TensorMetadata


def out_outgrown(story: Story) -> Iterator[Hazard]:
    """Yield one finding for each writing place."""
    seen = set()
    for call in story.writing:
        if call.error is not None or not call.mutated or call.callsite in seen:
            continue
        shifts = call.does("resizes")
        if call.does("method") and not shifts:
            continue
        tells = _loses_its_own if shifts else _runs_over_others
        for given, after in _moved(call):
            if tells(story, call, given, after):
                seen.add(call.callsite)
                yield _hazard(story, call, given, after)
                break


def _moved(call: CallEvent) -> Iterator[tuple[TensorMetadata, TensorMetadata]]:
    """What a call was given and wrote, and what became of it; Paddle gives it another object."""
    written = {mutation.tensor for mutation in call.mutations}
    lying: dict[int | None, list[TensorMetadata]] = {}
    for after in (*call.mutated, *call.outputs):
        lying.setdefault(after.storage, []).append(after)
    for given in call.inputs:
        if given.storage is not None and given.tensor in written:
            yield from ((given, after) for after in lying.get(given.storage, ()))


def _others(story: Story, given: TensorMetadata, after: TensorMetadata) -> Iterator[tuple[int, Region | None]]:
    tensors = story.bindings.by_storage.get(given.storage or -1, ())
    return (
        (other, region_of(story.observations[other])) for other in tensors if other not in (given.tensor, after.tensor)
    )


def _loses_its_own(story: Story, call: CallEvent, given: TensorMetadata, after: TensorMetadata) -> bool:
    """True if a part of a tensor lost elements of its own, has others' for them, and is used again."""
    before, now = region_of(given), region_of(after)
    if before is None or now is None or lies_within(before, now) or lies_within(now, before):
        return False
    used = next(story.given_between(after.tensor, call.index, len(story.calls)), None)
    return used is not None and any(
        lies_within(before, region) for _t, region in _others(story, given, after) if region
    )


def _runs_over_others(story: Story, call: CallEvent, given: TensorMetadata, after: TensorMetadata) -> bool:
    """True if elements that a result took beyond its place are elements of a tensor from before the call."""
    own, count = _elements(given), _elements(after)
    if after.offset is None or after.offset != given.offset or count <= own:
        return False
    shape = given.shape or ()
    packed = tuple(math.prod(shape[at + 1 :]) for at in range(len(shape)))
    begin = own if region_of(given) == region_of(replace(given, strides=packed)) else 0
    beyond = Region(after.offset + begin, (count - begin,), (1,))
    return any(
        story.first_seen(other) < call.index and may_meet(beyond, region)
        for other, region in _others(story, given, after)
    )


def _elements(meta: TensorMetadata) -> int:
    return math.prod(meta.shape) if meta.shape is not None else 0


def _hazard(story: Story, call: CallEvent, given: TensorMetadata, after: TensorMetadata) -> Hazard:
    name = story.bindings.written_name(call, after.tensor) or story.bindings.name(after.tensor)
    taken = story.innermost_new(after.tensor, call.index) if call.does("resizes") else None
    if call.does("resizes"):
        message = _(
            "{line} makes {tensor} show other elements: it is a part of a larger tensor, and `resize_` takes "
            "{count} elements that follow each other in memory, from its first one on. PyTorch gives no error."
        )
        fix = _(
            "Leave the shape of the part alone and bring the other operand to it (`values.view_as(part)`); `reshape` "
            "gives the elements of a part in another shape."
        )
    else:
        message = _(
            "{line} wrote a result of {after} elements into {tensor}, which has {before} and shares its memory: "
            "the elements behind it were overwritten. PyTorch only warns."
        )
        fix = _(
            "Bring the result to the size of its place first, or assign it (`x[i] = …`), which refuses another size."
        )
    return finding(
        "out-outgrown",
        "silent",
        message=message.format(
            line=wording.spot(call.callsite),
            tensor=f"`{name}`" if name else _("a tensor"),
            before=_elements(given),
            after=_elements(after),
            count=_elements(after),
        ),
        fix=fix,
        variable=name,
        origin=taken.callsite if taken is not None else None,
        tensor=after.tensor,
        write=call,
    )


RULES = (row("out-outgrown", "silent", out_outgrown),)
