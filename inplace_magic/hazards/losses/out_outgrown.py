"""A result was larger than the part of a tensor that was to take it, and ran over what stands beside it.

A tensor given as ``out=`` is resized where the result has another shape
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.resize_.html: the elements of the storage are kept and
shown in the new shape). Of a row of a table that means the rows behind it; PyTorch warns once, in a process that shows
warnings.

Bad::

    torch.square(record, out=table[i])      # record has 6 values, a row has 4

Good::

    table[i] = record[:4].square()

``resize_`` does the same to a part that it is called on: ``chart[2:5, 3:7].resize_(12)`` does not show the block as one
row, but twelve elements that follow its first one in memory.

Told from the record alone: a call wrote a tensor that has more elements afterwards, and the added ones are elements
of a tensor that was there before; or ``resize_`` gave a tensor other elements for some of its own, and those are
elements of another tensor. Silent for ``resize_`` and its like where a tensor keeps what it has, as one that grows
does, and for a tensor that has its memory to itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.analysis.overlap import lies_within, may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Region, TensorMetadata

CODE = "out-outgrown"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place."""
    seen = set()
    for call in story.writing:
        if call.does("resizes") and call.error is None and call.callsite not in seen:
            over = _laid_over_others(story, call)
            if over is not None:
                seen.add(call.callsite)
                yield _of_a_part(story, call, over)
        if call.error is not None or not call.mutated or call.does("method") or call.callsite in seen:
            continue
        for given, after in _grown(call):
            if _runs_over_others(story, call, given, after):
                seen.add(call.callsite)
                yield _hazard(story, call, given, after)
                break


def _grown(call: CallEvent) -> Iterator[tuple[TensorMetadata, TensorMetadata]]:
    """What a call was given and wrote, and what became of it, where that has more elements; Paddle gives it another
    object."""
    written = {mutation.tensor for mutation in call.mutations}
    lying: dict[int, list[TensorMetadata]] = {}
    for after in (*call.mutated, *call.outputs):
        if after.storage is not None:
            lying.setdefault(after.storage, []).append(after)
    for given in call.inputs:
        for after in lying.get(given.storage, ()) if given.storage is not None and given.tensor in written else ():
            if after.offset == given.offset and _elements(after) > _elements(given):
                yield given, after
                break


def _laid_over_others(story: Story, call: CallEvent) -> TensorMetadata | None:
    """What a part of a tensor became, where it lost elements of its own and has others' for them, and is used again."""
    given, after = call.inputs[0] if call.inputs else None, call.mutated[0] if call.mutated else None
    if given is None or after is None or given.storage is None or given.storage != after.storage:
        return None
    before, now = region_of(given), region_of(after)
    if before is None or now is None or lies_within(before, now) or lies_within(now, before):
        return None
    if not any(used.index > call.index for used in story.given_to.get(after.tensor, ())[-1:]):
        return None
    others = (story.observations[other] for other in story.bindings.by_storage.get(given.storage, ()))
    known = (region_of(other) for other in others if other.tensor != given.tensor)
    return after if any(region is not None and lies_within(before, region) for region in known) else None


def _elements(meta: TensorMetadata) -> int:
    return math.prod(meta.shape) if meta.shape is not None else 0


def _runs_over_others(story: Story, call: CallEvent, given: TensorMetadata, after: TensorMetadata) -> bool:
    """True if elements that the result took beyond its place are elements of a tensor from before the call."""
    if given.storage is None or after.offset is None:
        return False
    own, count = _elements(given), _elements(after)
    in_a_row = count > own and region_of(given) == region_of(replace(given, strides=_in_a_row(given.shape or ())))
    begin = own if in_a_row else 0
    beyond = Region(after.offset + begin, (count - begin,), (1,))
    return any(
        other not in (given.tensor, after.tensor)
        and story.first_seen(other) < call.index
        and may_meet(beyond, region_of(story.observations[other]))
        for other in story.bindings.by_storage.get(given.storage, ())
    )


def _in_a_row(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a tensor whose elements follow each other."""
    return tuple(math.prod(shape[at + 1 :]) for at in range(len(shape)))


def _hazard(story: Story, call: CallEvent, given: TensorMetadata, after: TensorMetadata) -> Hazard:
    name = story.bindings.written_name(call, after.tensor) or story.bindings.name(after.tensor)
    return finding(
        CODE,
        "silent",
        message=_(
            "{line} gave a result of {after} elements to {tensor}, which has {before} and shares its memory: what "
            "stands behind it was overwritten. PyTorch only warns."
        ).format(
            line=wording.spot(call.callsite),
            tensor=f"`{name}`" if name else _("a tensor"),
            before=_elements(given),
            after=_elements(after),
        ),
        fix=_(
            "Bring the result to the size of its place first, or assign it (`x[i] = …`), which refuses another size."
        ),
        variable=name,
        tensor=after.tensor,
        write=call,
    )


def _of_a_part(story: Story, call: CallEvent, after: TensorMetadata) -> Hazard:
    name = story.bindings.written_name(call, after.tensor) or story.bindings.name(after.tensor)
    taken = story.innermost_new(after.tensor, call.index)
    return finding(
        CODE,
        "silent",
        message=_(
            "{line} lays {tensor} over other elements: it is a part of a larger tensor, and `resize_` shows {count} "
            "elements as they follow each other in memory from its first one on. PyTorch gives no error."
        ).format(
            line=wording.spot(call.callsite),
            tensor=f"`{name}`" if name else _("a tensor"),
            count=_elements(after),
        ),
        fix=_(
            "Leave the shape of the part alone and bring the other operand to it (`values.view_as(part)`); `reshape` "
            "gives the elements of a part in another shape."
        ),
        variable=name,
        origin=taken.callsite if taken is not None else None,
        tensor=after.tensor,
        write=call,
    )


RULE = Rule(check)
