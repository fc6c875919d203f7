"""Values that a write is about to drop without a word, told from its arguments before it runs.

``x[index] = values`` with an index that names an element twice keeps one of its two values, no one says which
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html: "if accumulate is False, the behavior is
undefined if indices contain duplicate elements"). A write into a tensor of another dtype converts without asking: a
fraction into an integer is cut off, a number beyond the dtype's range becomes another one
(https://docs.pytorch.org/docs/stable/tensor_attributes.html). Only small tensors in CPU memory are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.arguments import Arguments, Keywords
from inplace_magic.record.events import Dropped, Number

_MOST = 4096
"""Elements up to which an index or a source is read."""
_ROWS = 4
"""Zeros and ones in a shorter index may well be meant as numbers of rows."""
_EXACT = {torch.float32: 2**24, torch.bfloat16: 2**8, torch.float16: 2**11}
"""Up to here each whole number has a value of its own."""
_LARGE = 2**53
_INTEGRAL = frozenset((torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64))


def _item(args: Arguments, kwargs: Keywords) -> Dropped | None:
    if len(args) != 3:
        return None
    target, index, given = args
    entries = index if isinstance(index, tuple) else (index,)
    return _flags(target, index) or _repeats(entries, given) or _converted(target, given)


def _indexed(args: Arguments, kwargs: Keywords) -> Dropped | None:
    given = dict(zip(("self", "indices", "values", "accumulate"), args, strict=False)) | dict(kwargs)
    if given.get("accumulate") or "values" not in given:
        return None
    return _repeats(tuple(given.get("indices") or ()), given["values"])


def _along(args: Arguments, kwargs: Keywords) -> Dropped | None:
    target, *rest = args
    given = dict(zip(("dim", "index", "src"), rest, strict=False)) | dict(kwargs)
    flat = type(target) in describe.PLAIN_TYPES and target.dim() == 1
    plain = flat and "reduce" not in given and len(rest) <= 3
    return _repeats((given.get("index"),), given.get("src", given.get("source"))) if plain else None


def _copied(args: Arguments, kwargs: Keywords) -> Dropped | None:
    return _converted(args[0], args[1]) if len(args) > 1 else None


def _added(args: Arguments, kwargs: Keywords) -> Dropped | None:
    """Bytes begin at zero again above 255."""
    if len(args) != 2 or kwargs or type(args[0]) not in describe.PLAIN_TYPES or args[0].dtype is not torch.uint8:
        return None
    target, given = (_numbers(each) for each in args)
    if target is None or given is None or len(given) not in (1, len(target)):
        return None
    sums = [old + (given[0] if len(given) == 1 else given[place]) for place, old in enumerate(target)]
    beyond = [total for total in sums if not 0 <= total <= torch.iinfo(torch.uint8).max]
    return Dropped("range", len(beyond), len(sums), beyond[0], largest=max(beyond)) if beyond else None


READERS: dict[str, Callable[[Arguments, Keywords], Dropped | None]] = {
    "__setitem__": _item,
    "copy_": _copied,
    "fill_": _copied,
    "index_put_": _indexed,
    "scatter_": _along,
    "index_copy_": _along,
    "add_": _added,
    "__iadd__": _added,
}
"""By the name of the function."""


def _numbers(given: Any) -> tuple[Number, ...] | None:
    if isinstance(given, (int, float)):
        return (given,)
    if type(given) not in describe.PLAIN_TYPES:
        return None
    return describe.flat(describe.values(given, describe.layout(given), _MOST))


def _flags(target: Any, index: Any) -> Dropped | None:
    """An index of zeros and ones, one for each row: a mask in all but its dtype."""
    if type(index) not in describe.PLAIN_TYPES or index.dtype not in _INTEGRAL or index.dtype is torch.uint8:
        return None
    rows = index.numel()
    if type(target) not in describe.PLAIN_TYPES or index.dim() != 1 or rows < _ROWS or target.shape[0] != rows:
        return None
    flags = _numbers(index)
    if flags is None or not set(flags) <= {0, 1}:
        return None
    return Dropped("flags", rows, rows)


def _repeats(entries: Sequence[Any], given: Any) -> Dropped | None:
    """What an index that names elements more than once drops; None also where it is not certain to."""
    columns = []
    for entry in entries:
        if type(entry) in describe.PLAIN_TYPES:
            if entry.dtype not in _INTEGRAL or entry.dtype is torch.uint8:  # a mask
                return None
            column = _numbers(entry)
        elif isinstance(entry, list):
            column = tuple(entry) if len(entry) <= _MOST and all(type(each) is int for each in entry) else None
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
    values = _numbers(given)
    first = isinstance(entries[0], (torch.Tensor, list))
    return Dropped("repeats", dropped, len(named), differ=values is not None and first and _differ(named, values))


def _differ(named: list[tuple[Any, ...]], values: tuple[Number, ...]) -> bool:
    """Whether an element that is named twice is given two values."""
    if len(values) % len(named) or len(values) == 1:
        return False
    width = len(values) // len(named)
    last: dict[tuple[Any, ...], tuple[Number, ...]] = {}
    for place, element in enumerate(named):
        row = values[place * width : (place + 1) * width]
        if last.setdefault(element, row) != row:
            return True
    return False


def _converted(target: Any, given: Any) -> Dropped | None:
    """What the conversion to the target's dtype drops."""
    if type(target) not in describe.PLAIN_TYPES:
        return None
    dtype = target.dtype
    same = type(given) in describe.PLAIN_TYPES and given.dtype == dtype
    integral = dtype in _INTEGRAL
    if same or not (integral or dtype.is_floating_point):
        return None
    if not integral and type(given) in describe.PLAIN_TYPES and given.dtype.itemsize <= dtype.itemsize:
        return None  # as large a number as it may be given
    values = _numbers(given)
    if values is None:
        return None
    finite = [value for value in values if math.isfinite(value)]
    largest = max(map(abs, finite), default=0)
    if integral:
        cut = [value for value in finite if value != int(value)]
        if cut:
            scalar = not isinstance(given, torch.Tensor)
            return Dropped("fraction", len(cut), len(values), cut[0], largest=largest, scalar=scalar)
    if not integral and not isinstance(given, torch.Tensor) and dtype in _EXACT:
        coarse = [value for value in finite if _EXACT[dtype] < abs(value) < _LARGE and value != int(value)]
        if coarse:
            return Dropped("precision", len(coarse), len(values), coarse[0], largest=largest, scalar=True)
    limits = torch.iinfo(dtype) if integral else torch.finfo(dtype)
    beyond = [value for value in finite if not limits.min <= value <= limits.max]
    if not beyond:
        return None
    return Dropped("range", len(beyond), len(values), beyond[0], largest=largest)
