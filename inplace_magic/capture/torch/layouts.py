"""What many tensors have in common: shape, strides, dtype and the like, as raw torch values; readable at the end."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import torch

_LETTERS = {torch.float32: b"f", torch.float64: b"d", torch.int64: b"q", torch.int32: b"i", torch.bool: b"?"}


class Layout:
    """What many tensors have in common: a program has many tensors and few layouts, so equal ones are one object, and
    what follows from one is found once. Raw torch values; turning them into text can wait. None is unknown."""

    shape: tuple[int, ...] | None
    strides: tuple[int, ...] | None
    offset: int | None
    dtype: torch.dtype | None
    device: torch.device | None
    is_view: bool

    def __init__(self, facts: Sequence[Any], cls: str) -> None:
        self.shape, self.strides, self.offset, self.dtype, self.device, self.is_view = facts
        self.cls = cls
        shape, strides, dtype, device = self.shape, self.strides, self.dtype, self.device
        self.numel = None if shape is None else math.prod(shape)
        elements = None
        if shape is not None and strides is not None and device is not None and device.type == "cpu":
            elements = _elements_without_gaps(shape, strides)
        self.span: int | None = None if elements is None or dtype is None else elements * dtype.itemsize
        """Bytes, where the tensor fills one stretch of CPU memory without gaps."""
        self.memory_at = memory_of(self.span or 0)
        """So many bytes, by their address."""
        self.begin: int = 0 if dtype is None else (self.offset or 0) * dtype.itemsize
        """Bytes from the beginning of the storage."""
        in_order = elements is not None and _in_order(shape or (), strides or ())
        self.letter: bytes | None = _LETTERS.get(dtype) if in_order and dtype is not None else None
        """The letter of ``struct`` for its elements, where they lie in CPU memory one after the other."""

    @cached_property
    def readable(self) -> tuple[Any, ...]:
        """The same as it stands in a trace: shape, strides, offset, dtype, device, bytes, whether a view, class."""
        return (
            None if self.shape is None else tuple(self.shape),
            self.strides,
            self.offset,
            "unknown" if self.dtype is None else str(self.dtype).removeprefix("torch."),
            "unknown" if self.device is None else str(self.device),
            None if self.numel is None or self.dtype is None else self.numel * self.dtype.itemsize,
            self.is_view,
            self.cls,
        )


def memory_of(nbytes: int) -> Callable[[int], Any]:
    """What gives so many bytes of memory by their address; ``raw`` of it is a copy. Once made, it costs a third of
    ``ctypes.string_at``."""
    return (ctypes.c_char * nbytes).from_address


def _elements_without_gaps(shape: tuple[int, ...], strides: tuple[int, ...]) -> int | None:
    elements = 1
    for size, stride in sorted(zip(shape, strides, strict=True), key=lambda pair: pair[1]):
        if size == 1:
            continue
        if stride != elements:
            return None
        elements *= size
    return elements


def _in_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    moving = [stride for size, stride in zip(shape, strides, strict=True) if size != 1]
    return moving == sorted(moving, reverse=True)


LAYOUTS: dict[tuple[Any, ...], Layout] = {}
_MOST_LAYOUTS = 4096


def shared(facts: tuple[Any, ...]) -> Layout:
    """Return the one layout with these facts: shape, strides, offset, dtype, device, whether it is a view, and its
    class."""
    try:
        layout = LAYOUTS.get(facts)
    except TypeError:  # a symbolic size refuses to be hashed
        layout = None
    if layout is None:
        if not _are_numbers(facts[0]) or not _are_numbers(facts[1]) or type(facts[2]) not in (int, _NOTHING):
            # Symbols of a shape environment, or tensors while `torch.jit.trace` runs: to compare them would tell the
            # tracer that the program depends on them, and to keep them would keep them beyond their trace.
            facts = (None, None, None, *facts[3:])
            return shared(facts)
        if len(LAYOUTS) >= _MOST_LAYOUTS:
            LAYOUTS.clear()
        *own, kind = facts
        layout = LAYOUTS[facts] = Layout(own, kind if isinstance(kind, str) else kind.__name__)
    return layout


_NOTHING = type(None)


def _are_numbers(sizes: Sequence[Any] | None) -> bool:
    return sizes is None or all([type(size) is int for size in sizes])
