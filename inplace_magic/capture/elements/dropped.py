"""Values that a write is about to drop without a word, told from its arguments before it runs; of no framework.

An index that names an element twice keeps one of the two values that it is given, no one says which. A write into a
tensor of another dtype converts without asking: a fraction into an integer is cut off, a number beyond the dtype's
range becomes another one. Only small tensors in CPU memory are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from inplace_magic.record.events import Dropped, Number

MOST = 4096
"""Elements up to which an index or a source is read."""
_EXACT = {"float32": 2**24, "bfloat16": 2**8, "float16": 2**11}
"""Up to here each whole number has a value of its own."""
_LARGE = 2**53
_INTEGRAL = ("uint8", "int8", "int16", "int32", "int64")
_LIMITS: dict[str, tuple[float, float]] = {
    "uint8": (0, 255),
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{name: (-most, most) for name, most in (("float16", 65504.0), ("bfloat16", 2.0**128 - 2.0**120))},
    **{name: (-most, most) for name, most in (("float32", 2.0**128 - 2.0**104), ("float64", 1.7976931348623157e308))},
}
"""The smallest and the largest number, by the dtype."""
_BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "uint8": 1, "int8": 1, "int16": 2, "int32": 4}


@dataclass(frozen=True)
class Reader:
    """How the tensors of a framework are read.

    Args:
        is_tensor: whether something is a plain tensor of it.
        dtype: ``float32``.
        values: the elements of a small tensor in CPU memory, in row-major order; None for another one.
    """

    is_tensor: Callable[[Any], bool]
    dtype: Callable[[Any], str]
    values: Callable[[Any], tuple[Number, ...] | None]

    def numbers(self, given: Any) -> tuple[Number, ...] | None:
        """Return a Python number, or the elements of a tensor; None where they are not known."""
        if isinstance(given, (int, float)):
            return (given,)
        return self.values(given) if self.is_tensor(given) else None


def by_item(reader: Reader, target: Any, index: Any, given: Any) -> Dropped | None:
    """What ``target[index] = given`` drops."""
    entries = index if isinstance(index, tuple) else (index,)
    return by_index(reader, entries, given) or converted(reader, target, given)


def by_index(reader: Reader, entries: Sequence[Any], given: Any) -> Dropped | None:
    """What an index that names elements more than once drops; None also where it is not certain to."""
    columns = []
    for entry in entries:
        if reader.is_tensor(entry):
            if reader.dtype(entry) == "uint8" or reader.dtype(entry) not in _INTEGRAL:  # a mask, of bytes or of bools
                return None
            column = reader.numbers(entry)
        elif isinstance(entry, list):
            column = tuple(entry) if len(entry) <= MOST and all([type(each) is int for each in entry]) else None
        elif entry is None or entry is Ellipsis or isinstance(entry, (slice, int)):
            continue
        else:
            return None
        if column is None:
            return None
        columns.append(column)
    if not columns or len({len(column) for column in columns}) != 1:
        return None
    named = list(zip(*columns, strict=True))
    dropped = len(named) - len(set(named))
    if not dropped:
        return None
    values = reader.numbers(given)
    first = isinstance(entries[0], list) or reader.is_tensor(entries[0])
    return Dropped("repeats", dropped, len(named), differ=values is not None and first and _differ(named, values))


def _differ(named: list[tuple[Any, ...]], values: tuple[Number, ...]) -> bool:
    """True if an element that is named twice is given two values."""
    if len(values) % len(named) or len(values) == 1:
        return False
    width = len(values) // len(named)
    last: dict[tuple[Any, ...], tuple[Number, ...]] = {}
    for place, element in enumerate(named):
        row = values[place * width : (place + 1) * width]
        if last.setdefault(element, row) != row:
            return True
    return False


def converted(reader: Reader, target: Any, given: Any) -> Dropped | None:
    """What the conversion to the target's dtype drops."""
    if not reader.is_tensor(target):
        return None
    dtype = reader.dtype(target)
    tensor = reader.is_tensor(given)
    integral = dtype in _INTEGRAL
    if dtype not in _LIMITS or (tensor and reader.dtype(given) == dtype):
        return None
    if not integral and tensor and _BYTES.get(reader.dtype(given), 8) <= _BYTES[dtype]:
        return None  # as large a number as it may be given
    values = reader.numbers(given)
    if values is None:
        return None
    finite = [value for value in values if math.isfinite(value)]
    largest = max(map(abs, finite), default=0)
    if integral:
        cut = [value for value in finite if value != int(value)]
        if cut:
            return Dropped("fraction", len(cut), len(values), cut[0], largest=largest, scalar=not tensor)
    elif not tensor and dtype in _EXACT:
        coarse = [value for value in finite if _EXACT[dtype] < abs(value) < _LARGE and value != int(value)]
        if coarse:
            return Dropped("precision", len(coarse), len(values), coarse[0], largest=largest, scalar=True)
    least, most = _LIMITS[dtype]
    beyond = [value for value in finite if not least <= value <= most]
    if not beyond:
        return None
    return Dropped("range", len(beyond), len(values), beyond[0], largest=largest)


def wrapped(reader: Reader, target: Any, given: Any, combine: Callable[[Number, Number], Number]) -> Dropped | None:
    """What arithmetic in bytes drops: they begin at zero again above 255, and at 255 below zero.

    Args:
        target: the bytes.
        given: what is added to them, taken off or multiplied.
        combine: that operation, of two numbers.
    """
    old, more = reader.numbers(target), reader.numbers(given)
    if old is None or more is None or len(more) not in (1, len(old)):
        return None
    results = [combine(value, more[0 if len(more) == 1 else place]) for place, value in enumerate(old)]
    least, most = _LIMITS["uint8"]
    beyond = [result for result in results if not least <= result <= most]
    return Dropped("range", len(beyond), len(results), beyond[0], largest=max(map(abs, beyond))) if beyond else None
