"""Memory that was taken as it is, filled in part, and computed with as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.overlap import reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.rule import row
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Region
from inplace_magic.record.traits import Trait

_MOST = 65_536
"""Elements of a memory, and all that its writes reach together, up to which they are looked at one by one."""

_HANDS_OUT: tuple[Trait, ...] = ("gives array", "gives out memory", "gives address")


@dataclass(frozen=True)
class _Read:
    """A call that computes with what nobody filled."""

    call: CallEvent
    unfilled: int
    """How many elements of what it reads."""
    wrote: CallEvent
    """The last call that filled others."""


def memory_not_filled(story: Story) -> Iterator[Hazard]:
    """Yield one finding for each line that takes memory so."""
    seen = set()
    for maker in story.doing("unfilled"):
        if maker.callsite is not None and maker.callsite not in seen:
            found = _read(story, maker)
            if found is not None:
                seen.add(maker.callsite)
                yield _hazard(story, maker, found)


def _read(story: Story, maker: CallEvent) -> _Read | None:
    """The first call that computes with elements that nobody filled; None where nothing is known of some."""
    if maker.kind != "ordinary" or maker.error is not None or len(maker.outputs) != 1:
        return None
    made = maker.outputs[0]
    whole, storage = region_of(made), made.storage
    if made.device != "cpu" or storage is None or whole is None or not 1 < math.prod(whole.shape) <= _MOST:
        return None
    unseen = any(write.call is None for write in story.writes_to_memory(storage))
    if unseen or story.maker_of_storage(storage) is not maker:
        return None
    unfilled, left = set(_elements(whole)), 4 * _MOST
    wrote: CallEvent | None = None
    for call in story.given_memory(storage):
        if call is maker or (call.kind == "query" and not call.does("gives address")):
            continue
        if not _is_understood(story, call, storage):
            return None
        if story.wrote(call.index, storage):
            reached = _reached(call, storage)
            if reached is None or (left := left - math.prod(reached.shape)) < 0:
                return None
            unfilled.difference_update(_elements(reached))
            wrote = call
            if not unfilled:
                return None
        elif wrote is not None and call.kind == "ordinary":
            for region in (region_of(meta) for meta in call.inputs if meta.storage == storage):
                missing = sum(at in unfilled for at in _elements(region)) if region is not None else 0
                if region is not None and missing and _computes(call, missing, math.prod(region.shape)):
                    return _Read(call, missing, wrote)
    return None


def _is_understood(story: Story, call: CallEvent, storage: int) -> bool:
    """True if all is known of what a call does to a memory: it writes known elements, reads, or gives a view that a
    later call gets. What no call gets went to where the watch does not see."""
    if call.error is not None or any(call.does(trait) for trait in _HANDS_OUT):
        return False
    if story.wrote(call.index, storage):
        return True
    on = [meta.tensor for meta in call.outputs if meta.storage == storage]
    if call.kind == "view":
        return all(next(story.given_between(tensor, call.index, len(story.calls)), None) for tensor in on)
    return call.kind == "ordinary" and not on


def _reached(call: CallEvent, storage: int) -> Region | None:
    """The elements that a call wrote; None where they are not known."""
    written = [mutation for mutation in call.mutations if mutation.storage == storage]
    if len(written) != 1:
        return None
    if call.does("sets item"):
        return written[0].region
    return reach_of_write(call, written[0]) if call.does("overwrites") or call.does("copies in") else None


def _computes(call: CallEvent, missing: int, read: int) -> bool:
    """True if what nobody filled is in the result, and no mask can take it out again."""
    if call.does("sums up"):
        shapes = [meta.shape for meta in call.outputs]
        return len(shapes) == 1 and shapes[0] is not None and math.prod(shapes[0]) == 1 and read > 1
    return missing == read and call.does("adds")


def _elements(region: Region) -> list[int]:
    found = [region.offset]
    for size, stride in zip(region.shape, region.strides, strict=True):
        found = [at + place * stride for at in found for place in range(size)]
    return found


def _hazard(story: Story, maker: CallEvent, found: _Read) -> Hazard:
    made = maker.outputs[0]
    name = story.bindings.name(made.tensor)
    return Hazard(
        code="memory-not-filled",
        severity="warning",
        message=_(
            "{read} computes with {missing} elements of {what} that nobody has filled: {made} takes memory as it is, "
            "and {wrote} and its like fill other elements only. PyTorch gives no error."
        ).format(
            read=wording.spot(found.call.callsite),
            missing=found.unfilled,
            what=f"`{name}`" if name else _("a tensor"),
            made=wording.spot(maker.callsite),
            wrote=wording.line_of(found.wrote.callsite),
        ),
        fix=_("Fill all of it, or begin with `torch.zeros(…)` or with a copy (`x.clone()`) instead."),
        variable=name,
        mutation=maker.callsite,
        read=found.call.callsite,
        read_call=found.call.index,
        call=maker.index,
        tensor=made.tensor,
        badges=Badges(wrote=_("made here, not filled"), read=_("computes with it here")),
    )


RULES = (row("memory-not-filled", "warning", memory_not_filled),)
