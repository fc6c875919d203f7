"""Do two regions of one storage meet, and does an op read an element that it writes for another position?

Whether two regions meet is decided exactly: by whether their distance can be made of steps along their dimensions. So
is the other question of two regions of one form; others are compared element by element on a clipped copy: every
dimension is cut to a few entries, with the true offsets and strides. What is found is therefore real; what is not found
may still exist in a large tensor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product
from typing import TYPE_CHECKING

from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import CallEvent, Mutation, Region, TensorMetadata
from inplace_magic.record.filled import filled

if TYPE_CHECKING:
    from inplace_magic.analysis.story import Story

_CLIP = 8
_MOST = 65_536
_MOST_TRIED = 10_000
VIEWS_OF_VIEWS = 3
"""Steps of ``for row in x: row[1:].mul_(2)`` that are followed back."""


_region = filled(Region)


def region_of(meta: TensorMetadata | SavedTensor) -> Region | None:
    """Return all elements of a tensor; None when its layout is unknown."""
    if meta.shape is None or meta.strides is None or meta.offset is None:
        return None
    return _region(meta.offset, meta.shape, meta.strides)


def same_elements(one: TensorMetadata, other: TensorMetadata) -> bool:
    """True if each element of the one meets itself in the other; leading dimensions of one entry move none."""
    region, beside = region_of(one), region_of(other)
    if one.storage is None or one.storage != other.storage or region is None or beside is None:
        return False
    return _without_leading_ones(region) == _without_leading_ones(beside)


def copies_onto_itself(call: CallEvent) -> bool:
    """True if a call copied elements where they are already, as ``x.copy_(x)`` does: it changes none."""
    return call.does("copies in") and len(call.inputs) > 1 and same_elements(*call.inputs[:2])


def _without_leading_ones(region: Region) -> Region:
    """Return the region as a tensor of fewer dimensions, which meets the same elements of another one: ``x[None]`` for
    `x`."""
    ones = next((at for at, size in enumerate(region.shape) if size != 1), len(region.shape))
    return _region(region.offset, region.shape[ones:], region.strides[ones:])


def reach_of_write(call: CallEvent, mutation: Mutation) -> Region | None:
    """Return the elements that a write can have reached: those of its index, else all of the written tensor; None when
    its layout is unknown."""
    if mutation.region is not None:
        return mutation.region
    after = next((meta for meta in call.mutated if meta.tensor == mutation.tensor), None)
    return region_of(after) if after is not None else None


@lru_cache(maxsize=4096)
def may_meet(one: Region | None, other: Region | None) -> bool:
    """True if two regions share an element: if their distance can be made of steps along their dimensions. True as well
    where that cannot be told, or takes too long."""
    if one is None or other is None:
        return True
    if _empty(one) or _empty(other):
        return False
    steps: dict[int, tuple[int, int]] = {}
    for region, sign in ((one, 1), (other, -1)):
        for size, stride in zip(region.shape, region.strides, strict=True):
            if stride and size > 1:
                low, high = steps.get(abs(stride), (0, 0))
                steps[abs(stride)] = (low, high + size - 1) if sign * stride > 0 else (low - size + 1, high)
    dimensions = [(stride, *steps[stride]) for stride in sorted(steps, reverse=True)]
    return _adds_up(other.offset - one.offset, dimensions, [_MOST_TRIED]) is not False


def _adds_up(distance: int, dimensions: list[tuple[int, int, int]], left: list[int]) -> bool | None:
    """True if steps along the dimensions make a distance; None where too many ways would have to be tried.

    Args:
        dimensions: (stride, fewest steps, most steps) of each, the largest stride first.
        left: how many ways may still be tried.
    """
    if not dimensions:
        return distance == 0
    if distance % math.gcd(*(stride for stride, _low, _high in dimensions)):
        return False
    (stride, fewest, most), *rest = dimensions
    lowest = sum(step * low for step, low, _high in rest)
    highest = sum(step * high for step, _low, high in rest)
    first, last = max(fewest, -((highest - distance) // stride)), min(most, (distance - lowest) // stride)
    unknown = False
    for steps in range(first, last + 1):
        left[0] -= 1
        if left[0] < 0:
            return None
        found = _adds_up(distance - steps * stride, rest, left)
        if found:
            return True
        unknown = unknown or found is None
    return None if unknown else False


@lru_cache(maxsize=4096)
def lies_within(one: Region | None, other: Region | None) -> bool:
    """True if a region is known to have no element outside another one."""
    if one is None or other is None or max(math.prod(one.shape), math.prod(other.shape)) > _MOST:
        return one is not None and one == other
    return one == other or {offset for _, offset in _elements(one)} <= {offset for _, offset in _elements(other)}


@lru_cache(maxsize=4096)
def reads_what_it_writes(written: Region, read: Region, *, copied: bool = False) -> bool:
    """True if some element is read for one position and written for another (`read` is broadcast to the shape of
    `written`): the result then depends on the order of the loop over memory.

    Args:
        copied: what is read is what is written, so that an element that is copied onto itself stays as it is.
    """
    if len(read.shape) > len(written.shape):
        extra = len(read.shape) - len(written.shape)
        if any(size != 1 for size in read.shape[:extra]):
            return False
        read = Region(read.offset, read.shape[extra:], read.strides[extra:])
    pad = len(written.shape) - len(read.shape)
    clip = _CLIP if len(written.shape) <= 4 else 3
    shape = tuple(min(size, clip) for size in written.shape)
    sizes, strides = (1,) * pad + read.shape, (0,) * pad + read.strides
    if any(size not in (1, full) for size, full in zip(sizes, written.shape, strict=True)):
        return False
    steps = tuple(0 if size == 1 else stride for size, stride in zip(sizes, strides, strict=True))
    moved = read.offset - written.offset
    if moved and sizes == written.shape and strides == written.strides and all(strides):
        dimensions = sorted(
            ((abs(stride), 1 - size, size - 1) for size, stride in zip(sizes, strides, strict=True)), reverse=True
        )
        return bool(_adds_up(moved, dimensions, [_MOST_TRIED]))
    writes = {offset: at for at, offset in _elements(Region(written.offset, shape, written.strides))}
    reads = dict(_elements(Region(read.offset, shape, steps)))
    if copied:
        writes = {offset: at for offset, at in writes.items() if reads[at] != offset}
    return any(writes.get(offset, at) != at for at, offset in reads.items())


@lru_cache(maxsize=4096)
def writes_one_element_twice(region: Region) -> bool:
    """True if two positions of the region are one element, as in an expanded tensor, or in overlapping frames."""
    moving = [(abs(stride), size - 1) for size, stride in zip(region.shape, region.strides, strict=True) if size > 1]
    if _empty(region) or not all(stride for stride, _most in moving):
        return not _empty(region)
    dimensions = [(stride, -most, most) for stride, most in sorted(moving, reverse=True)]
    # One of them is the outermost in which the two positions differ.
    return any(
        _adds_up(0, [(stride, 1, most), *dimensions[place + 1 :]], [_MOST_TRIED])
        for place, (stride, _fewest, most) in enumerate(dimensions)
    )


def repeats_elements(meta: TensorMetadata) -> bool:
    """True if one element of memory is known to stand for several positions of a tensor."""
    region = region_of(meta)
    return region is not None and writes_one_element_twice(region)


def repeating(story: Story, tensor: int, before: int) -> CallEvent | None:
    """Return the call that laid several positions of a tensor on one element, behind the views that were taken of its
    result; else the one that made the tensor."""
    for view in islice(story.views_back(tensor, before), VIEWS_OF_VIEWS):
        taken_of = region_of(view.inputs[0])
        if taken_of is not None and not writes_one_element_twice(taken_of):
            return view
    return story.innermost_new(tensor, before)


def _elements(region: Region) -> Iterator[tuple[tuple[int, ...], int]]:
    for at in product(*map(range, region.shape)):
        yield at, region.offset + sum(i * stride for i, stride in zip(at, region.strides, strict=True))


def _empty(region: Region) -> bool:
    return any(size == 0 for size in region.shape)
