"""Which functions of PyTorch drop values, and where their arguments stand.

``x[index] = values`` with an index that names an element twice keeps one of its two values, no one says which
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html: "if accumulate is False, the behavior is
undefined if indices contain duplicate elements"). Of conversions see
https://docs.pytorch.org/docs/stable/tensor_attributes.html.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch

from inplace_magic.capture.elements.dropped import MOST, Reader, by_index, by_item, converted, wrapped
from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.capture.torch.arguments import Arguments, Keywords
from inplace_magic.record.events import Dropped, Number


def _values(tensor: Any) -> tuple[Number, ...] | None:
    return describe_memory.flat(describe_memory.values(tensor, describe.layout(tensor), MOST))


_READER = Reader(
    is_tensor=lambda value: type(value) in describe.PLAIN_TYPES,
    dtype=lambda tensor: str(tensor.dtype).removeprefix("torch."),
    values=_values,
)


def _item(args: Arguments, kwargs: Keywords) -> Dropped | None:
    return by_item(_READER, *args) if len(args) == 3 else None


def _indexed(args: Arguments, kwargs: Keywords) -> Dropped | None:
    given = dict(zip(("self", "indices", "values", "accumulate"), args, strict=False)) | dict(kwargs)
    if given.get("accumulate") or "values" not in given:
        return None
    return by_index(_READER, tuple(given.get("indices") or ()), given["values"])


def _along(args: Arguments, kwargs: Keywords) -> Dropped | None:
    target, *rest = args
    given = dict(zip(("dim", "index", "src"), rest, strict=False)) | dict(kwargs)
    flat = type(target) in describe.PLAIN_TYPES and target.dim() == 1
    plain = flat and "reduce" not in given and len(rest) <= 3
    return by_index(_READER, (given.get("index"),), given.get("src", given.get("source"))) if plain else None


def _copied(args: Arguments, kwargs: Keywords) -> Dropped | None:
    return converted(_READER, args[0], args[1]) if len(args) > 1 else None


def _computed(combine: Callable[[Number, Number], Number]) -> Callable[[Arguments, Keywords], Dropped | None]:
    def dropped(args: Arguments, kwargs: Keywords) -> Dropped | None:
        plain = len(args) == 2 and not kwargs and type(args[0]) in describe.PLAIN_TYPES and args[0].dtype is torch.uint8
        return wrapped(_READER, args[0], args[1], combine) if plain else None

    return dropped


_ADDED, _TAKEN_OFF, _MULTIPLIED = _computed(operator.add), _computed(operator.sub), _computed(operator.mul)
OF_BYTES = frozenset((_ADDED, _TAKEN_OFF, _MULTIPLIED))
"""Those that find something in tensors of bytes alone."""
READERS: dict[str, Callable[[Arguments, Keywords], Dropped | None]] = {
    "__setitem__": _item,
    "copy_": _copied,
    "fill_": _copied,
    "index_put_": _indexed,
    "scatter_": _along,
    "index_copy_": _along,
    "add_": _ADDED,
    "__iadd__": _ADDED,
    "sub_": _TAKEN_OFF,
    "__isub__": _TAKEN_OFF,
    "mul_": _MULTIPLIED,
    "__imul__": _MULTIPLIED,
}
"""By the name of the function."""
