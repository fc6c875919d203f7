"""Which elements ``x[index] = value`` writes, worked out from shape and strides alone."""

from __future__ import annotations

from typing import Any

from inplace_magic.record.events import Region


def basic_index_region(
    shape: tuple[int, ...] | None, strides: tuple[int, ...] | None, offset: int | None, index: Any
) -> Region | None:
    """Return the region of ``x[index]`` for integers, slices, ``None`` and ``...``; None for any other index, whose
    result is no view, and for a tensor of which one of the three is not known."""
    if shape is None or strides is None or offset is None:
        return None
    entries = list(index) if isinstance(index, tuple) else [index]
    for entry in entries:
        plain = entry is None or entry is Ellipsis or isinstance(entry, slice) or type(entry) is int
        if not plain:
            return None
    if entries.count(Ellipsis) > 1:
        return None  # torch takes it, and so rarely is it written that "unknown" will do
    consumed = sum(1 for entry in entries if entry is not None and entry is not Ellipsis)
    if consumed > len(shape):
        return None
    fill = [slice(None)] * (len(shape) - consumed)
    if Ellipsis in entries:
        at = entries.index(Ellipsis)
        entries[at : at + 1] = fill
    else:
        entries += fill
    sizes: list[int] = []
    steps: list[int] = []
    dimension = 0
    for entry in entries:
        if entry is None:
            sizes.append(1)
            steps.append(0)
            continue
        size, stride = shape[dimension], strides[dimension]
        dimension += 1
        if isinstance(entry, slice):
            bounds = (entry.start, entry.stop, entry.step)
            if any([bound is not None and type(bound) is not int for bound in bounds]):
                return None
            picked = range(size)[entry]
            sizes.append(len(picked))
            steps.append(stride * picked.step)
            offset += stride * picked.start if len(picked) else 0
        else:
            offset += stride * (entry % size if size else 0)
    return Region(offset, tuple(sizes), tuple(steps))
