"""A call laid a tensor over elements that belong to another one: a result that outgrew its place, ``resize_``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.analysis.overlap import lies_within, may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Region, TensorMetadata


def resized(story: Story) -> Iterator[Found]:
    """Yield each ``resize_`` by which a part of a tensor lost elements of its own, has others' for them, and is used
    again."""
    for call in story.writing:
        for given, after in _moved(call) if call.does("resizes") and call.error is None else ():
            before, now = region_of(given), region_of(after)
            if before is None or now is None or lies_within(before, now) or lies_within(now, before):
                continue
            used = next(story.given_between(after.tensor, call.index, len(story.calls)), None)
            others = (region for _other, region in _others(story, given, after) if region)
            if used is not None and any(lies_within(before, region) for region in others):
                origin = story.innermost_new(after.tensor, call.index)
                yield Found({"line": call, "origin": origin}, after.tensor, words={"count": _elements(after)})


def outgrown(story: Story) -> Iterator[Found]:
    """Yield each call whose result took, beyond its place, elements of a tensor from before the call."""
    for call in story.writing:
        if call.error is not None or call.does("method") or call.does("resizes"):
            continue
        for given, after in _moved(call):
            own, count = _elements(given), _elements(after)
            if after.offset is None or after.offset != given.offset or count <= own:
                continue
            shape = given.shape or ()
            packed = tuple(math.prod(shape[at + 1 :]) for at in range(len(shape)))
            begin = own if region_of(given) == region_of(replace(given, strides=packed)) else 0
            beyond = Region(after.offset + begin, (count - begin,), (1,))
            others = _others(story, given, after)
            if any(story.first_seen(other) < call.index and may_meet(beyond, region) for other, region in others):
                yield Found({"line": call}, after.tensor, words={"before": own, "after": count})


def _moved(call: CallEvent) -> Iterator[tuple[TensorMetadata, TensorMetadata]]:
    """Yield what a call was given and wrote, and what became of it; Paddle gives it another object."""
    written = {mutation.tensor for mutation in call.mutations}
    lying: dict[int | None, list[TensorMetadata]] = {}
    for after in (*call.mutated, *call.outputs) if call.mutated else ():
        lying.setdefault(after.storage, []).append(after)
    for given in call.inputs:
        if given.storage is not None and given.tensor in written:
            yield from ((given, after) for after in lying.get(given.storage, ()))


def _others(story: Story, given: TensorMetadata, after: TensorMetadata) -> Iterator[tuple[int, Region | None]]:
    """Yield the other tensors on the memory, with their elements."""
    for other in story.bindings.by_storage.get(given.storage or -1, ()):
        if other not in (given.tensor, after.tensor):
            yield other, region_of(story.observations[other])


def _elements(meta: TensorMetadata) -> int:
    return math.prod(meta.shape) if meta.shape is not None else 0


RULES = rules_of(
    Row(
        "out-outgrown",
        "silent",
        resized,
        message=N_(
            "{line} makes {tensor} show other elements: it is a part of a larger tensor, and `resize_` takes "
            "{count} elements that follow each other in memory, from its first one on. PyTorch gives no error."
        ),
        fix=N_(
            "Leave the shape of the part alone and bring the other operand to it (`values.view_as(part)`); `reshape` "
            "gives the elements of a part in another shape."
        ),
    ),
    Row(
        "out-outgrown",
        "silent",
        outgrown,
        message=N_(
            "{line} wrote a result of {after} elements into {tensor}, which has {before} and shares its memory: "
            "the elements behind it were overwritten. PyTorch only warns."
        ),
        fix=N_(
            "Bring the result to the size of its place first, or assign it (`x[i] = …`), which refuses another size."
        ),
    ),
)
