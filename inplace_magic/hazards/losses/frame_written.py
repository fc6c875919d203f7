"""Overlapping frames of one signal were changed in place one by one: each begins with what the one before has left.

A slice is a view. Where a frame is longer than the step to the next one, the two share elements.

Bad::

    for begin in range(0, len(song) - 63, 32):
        frame = song[begin : begin + 64]
        frame *= window             # half of it belongs to the next frame
        spectra.append(torch.fft.rfft(frame))

Good::

    for begin in range(0, len(song) - 63, 32):
        frame = song[begin : begin + 64] * window
        spectra.append(torch.fft.rfft(frame))

Told from the record alone: one line scaled or centred at least three views of one memory, each further on than the one
before and most sharing elements with it; each was read as it then was before the next one was written; and but for such
views nobody read the memory from then on. Silent for what is added, as frames are to their sum; for memory that was
made to be filled; and where somebody reads the whole afterwards, since then the sweep over it may be what is wanted.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter

from inplace_magic.analysis.overlap import may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.of_origin import copied_where_taken
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Region, TensorMetadata
from inplace_magic.record.places import Callsite

CODE = "frame-written"

_FEWEST, _MOST = 3, 64
"""Frames that are asked for, and that are looked at."""

_Frame = tuple[CallEvent, TensorMetadata, Region]


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    lines: dict[tuple[Callsite, int], list[_Frame]] = {}
    for call in story.doing("scales", "subtracts or divides"):
        frame = _frame_of(call)
        if frame is not None and call.callsite is not None and frame[1].storage is not None:
            frames = lines.setdefault((call.callsite, frame[1].storage), [])
            if len(frames) < _MOST:
                frames.append(frame)
    told: set[int] = set()
    for (_site, storage), frames in lines.items():
        if storage not in told and _are_frames(frames) and _are_read(story, frames, storage):
            told.add(storage)
            pair = next(pair for pair in pairwise(frames) if may_meet(pair[0][2], pair[1][2]))
            yield _hazard(story, *pair)


def _frame_of(call: CallEvent) -> _Frame | None:
    """What a call scaled or centred by another tensor."""
    if call.kind != "in-place" or call.error is not None or len(call.mutations) != 1 or len(call.inputs) < 2:
        return None
    written, mutation = call.mutated[0] if call.mutated else None, call.mutations[0]
    if written is None or mutation.region is not None or written.is_trainable:
        return None
    region = region_of(written)
    return (call, written, region) if region is not None else None


def _are_frames(frames: list[_Frame]) -> bool:
    """Whether each is further on than the one before, and most share elements with it; not all do where rows of patches
    begin."""
    if len(frames) < _FEWEST:
        return False
    meeting = 0
    for (_a, one, before), (_b, other, region) in pairwise(frames):
        alike = (before.shape, before.strides) == (region.shape, region.strides)
        if not alike or one.tensor == other.tensor or region.offset <= before.offset:
            return False
        meeting += may_meet(before, region)
    return meeting >= _FEWEST - 1 and 2 * meeting >= len(frames) and all(frames[0][2].strides)


def _are_read(story: Story, frames: list[_Frame], storage: int) -> bool:
    """Whether each frame was read before the next one was written, and the memory by nothing that is larger."""
    maker = story.maker_of_storage(storage)
    if maker is not None and maker.does("buffer"):
        return False
    first, size = frames[0][0].index, math.prod(frames[0][2].shape)
    reads: list[tuple[int, Region | None]] = []
    for tensor in story.bindings.by_storage.get(storage, ()):
        for later in story.given_to.get(tensor, ()):
            if later.index <= first or not _reads(later):
                continue
            given = [meta for meta in later.inputs if meta.tensor == tensor]
            if any(_count(meta) > size for meta in given):
                return False
            reads += [(later.index, region_of(meta)) for meta in given]
    reads.sort(key=itemgetter(0))
    for (call, _meta, _region), (following, _other, region) in pairwise(frames):
        since, until = (bisect_right(reads, at, key=itemgetter(0)) for at in (call.index, following.index - 1))
        if all(read == region for _at, read in reads[since:until]):
            return False  # at most measured for the next one
    return True


def _reads(call: CallEvent) -> bool:
    return (
        call.error is None
        and call.kind != "view"
        and not call.mutations
        and (bool(call.outputs) or call.does("reads values"))
    )


def _count(meta: TensorMetadata) -> float:
    return math.prod(meta.shape) if meta.shape is not None else math.inf


def _hazard(story: Story, first: _Frame, second: _Frame) -> Hazard:
    call, written, region = first
    name = story.bindings.written_name(call, written.tensor)
    taken = story.innermost_new(written.tensor, call.index)
    read = next(
        (each for each in story.given_to.get(second[1].tensor, ()) if each.index > second[0].index and _reads(each)),
        None,
    )
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes {frame} in place, a view that shares elements with the next one: the second begins {step} "
            "elements further on and has {size}, so what they share is changed twice before it is read. PyTorch gives "
            "no error."
        ).format(
            line=wording.spot(call.callsite),
            frame=f"`{name}`" if name else _("a part of a tensor"),
            step=second[2].offset - region.offset,
            size=math.prod(region.shape),
        ),
        fix=_("Work on a copy of each part: compute out of place, or append `.clone()` where it is taken."),
        variable=name,
        origin=taken.callsite if taken is not None else None,
        read=read,
        tensor=written.tensor,
        write=call,
    )


RULE = Rule(check, {CODE: Cures((copied_where_taken,))})
