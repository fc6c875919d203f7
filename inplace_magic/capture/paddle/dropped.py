"""What an assignment to elements of a Paddle tensor, and ``fill_``, are about to drop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inplace_magic.capture.elements.dropped import MOST, Reader, by_item, converted
from inplace_magic.capture.paddle import describe
from inplace_magic.record.events import Dropped, Number


def _values(tensor: Any) -> tuple[Number, ...] | None:
    seen = describe.layout(tensor)
    return describe.values(describe.content(seen, describe.pointer(tensor), 8 * MOST), seen)


_READER = Reader(
    is_tensor=describe.is_plain,
    dtype=lambda tensor: str(tensor.dtype).removeprefix("paddle."),
    shape=lambda tensor: tuple(tensor.shape),
    values=_values,
)


def _item(args: tuple[Any, ...]) -> Dropped | None:
    if len(args) != 3:
        return None
    target, index, given = args
    if type(index) is tuple and len(index) == 1:
        (index,) = index  # as `Tensor.__setitem__` hands it on
    return by_item(_READER, target, index, given)


def _filled(args: tuple[Any, ...]) -> Dropped | None:
    return converted(_READER, args[0], args[1]) if len(args) > 1 else None


READERS: dict[str, Callable[[tuple[Any, ...]], Dropped | None]] = {"__setitem__": _item, "fill_": _filled}
"""By the name of the operation."""
