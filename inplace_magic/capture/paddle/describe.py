"""Facts of one Paddle tensor; nothing here raises, and unknown is None.

Only what Paddle documents is read, or what it has had under the same name in every version from 3.0 on:
``_inplace_version`` (the counter that a tensor shares with its views, its ``detach()`` and its ``.data``),
``data_ptr``, ``offset`` (in bytes), ``strides``. If ``_inplace_version`` vanishes, no write can be told.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from types import NoneType
from typing import Any, NamedTuple

import paddle

Tensor: Any = paddle.Tensor
_PLAIN = frozenset((paddle.Tensor, paddle.base.framework.EagerParamBase))

_LETTERS = {paddle.float32: "f", paddle.float64: "d", paddle.int64: "q", paddle.int32: "i", paddle.bool: "?"}
CPU = "cpu"


class Layout(NamedTuple):
    """What a tensor looks like; None is unknown."""

    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    offset: int | None
    """In elements."""
    dtype: Any
    device: str
    cls: str
    nbytes: int
    """Of its elements."""
    in_order: int
    """Bytes that can be read as they lie: all of a tensor in CPU memory without gaps, else 0."""

    @property
    def readable(self) -> tuple[Any, ...]:
        """The same as it stands in a trace, from its shape to its class."""
        dtype = str(self.dtype).removeprefix("paddle.")
        return (self.shape, self.strides, self.offset, dtype, self.device, self.nbytes, False, self.cls)


_layout: Callable[[tuple[Any, ...]], Layout] = partial(tuple.__new__, Layout)
"""Makes one of its fields; the class itself does the same by a function of Python's."""

_NO_TENSOR = frozenset((NoneType, bool, int, float, str))
"""What most other arguments are."""


def tensors_in(values: Iterable[Any], found: list[Any]) -> list[Any]:
    """Adds the tensors among some arguments, those in lists and tuples too, in their order. One without memory, such as
    the places for results that a static program gets, is left out: to ask it for its layout crashes Paddle 3.0."""
    for value in values:
        kind = type(value)
        if kind in _PLAIN:
            if value._is_initialized():
                found.append(value)
        elif kind is list or kind is tuple:
            if value:
                tensors_in(value, found)
        elif kind not in _NO_TENSOR and isinstance(value, Tensor) and value._is_initialized():
            found.append(value)
    return found


def is_plain(value: Any) -> bool:
    """True if something is a tensor or a parameter of Paddle's own classes, with memory."""
    return type(value) in _PLAIN and bool(value._is_initialized())


def version(tensor: Any) -> int | None:
    """Return the version counter."""
    try:
        return int(tensor._inplace_version())
    except Exception:  # describing never raises: a tensor without memory, a version of Paddle without counters
        return None


gradient: Callable[[Any], Any] = vars(paddle.Tensor)["grad"].__get__
"""``tensor.grad``, past what stands there during a watch."""


def pointer(tensor: Any) -> int | None:
    """Return the address of the first element; None where there is none, as of an empty or a sparse tensor."""
    try:
        return tensor.data_ptr() or None
    except Exception:  # as above
        return None


def address(tensor: Any, first: int | None) -> int:
    """Return the address of the memory that a tensor and its views share; 0 where there is none.

    Args:
        first: its :func:`pointer`.
    """
    try:
        return (first or 0) - (tensor.offset or 0)
    except Exception:  # as above
        return first or 0


def layout(tensor: Any) -> Layout:
    """Return what a tensor looks like."""
    try:
        size = tensor.element_size()  # a dict by dtype costs more: the hash of a dtype of Paddle's is a slow call
        offset = tensor.offset // size
        strides: tuple[int, ...] | None = tuple(tensor.strides)
    except Exception:  # as above; a sparse tensor has no strides
        size, offset, strides = 0, None, None
    kind = type(tensor)
    shape = tuple(tensor.shape)
    device = CPU
    if _ACCELERATED and not tensor.place.is_cpu_place():
        device = str(tensor.place).removeprefix("Place(").removesuffix(")")
    nbytes = math.prod(shape) * size
    cls = "Tensor" if kind is Tensor else "Parameter" if kind in _PLAIN else kind.__name__
    in_order = nbytes if device == CPU and _in_order(shape, strides) else 0
    return _layout((shape, strides, offset, tensor.dtype, device, cls, nbytes, in_order))


_ACCELERATED = any(
    [
        asked()
        for name in ("cuda", "rocm", "xpu")
        if (asked := getattr(paddle, f"is_compiled_with_{name}", None)) is not None
    ]
) or bool(getattr(paddle.device, "get_all_custom_device_type", list)())


def storage_bytes(tensor: Any, seen: Layout) -> int:
    """Bytes of the memory behind a tensor; those of the tensor where Paddle does not tell (3.0)."""
    try:
        return int(tensor._holder_size())
    except Exception:  # as above
        return seen.nbytes


def content(seen: Layout, first: int | None, limit: int) -> bytes | None:
    """Return the bytes of a tensor that lies in CPU memory without gaps; None for others, and for more than `limit`
    bytes.

    Args:
        first: its :func:`pointer`; the tensor must be alive.
        limit: in bytes.
    """
    count = seen.in_order
    if not first or not count or count > limit:
        return None
    content: bytes = _chars(count).from_address(first).raw  # a third of the time of `ctypes.string_at`
    return content


@lru_cache(maxsize=256)
def _chars(count: int) -> Any:
    return ctypes.c_char * count


@lru_cache(maxsize=4096)
def _in_order(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> bool:
    if strides is None or len(strides) != len(shape):
        return False
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def values(raw: bytes | None, seen: Layout) -> tuple[Any, ...] | None:
    """Return the elements in row-major order; None for dtypes that Python has no number for.

    Args:
        raw: what :func:`content` gave.
    """
    letter = _LETTERS.get(seen.dtype)
    if raw is None or letter is None:
        return None
    return struct.unpack(f"{math.prod(seen.shape)}{letter}", raw)
