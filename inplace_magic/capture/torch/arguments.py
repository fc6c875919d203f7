"""The tensors among the arguments and results of a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any

import torch

from inplace_magic.capture.torch.describe import PLAIN_TYPES

Arguments = tuple[Any, ...]
Keywords = Mapping[str, Any]

_MAX_DEPTH = 4
WITHOUT_TENSORS = frozenset(
    (
        *(NoneType, bool, int, float, complex, str, bytes, slice, type(...), FunctionType, BuiltinFunctionType),
        *(torch.Size, torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Generator),
    )
)
"""Types of arguments that hold no tensor, so that they need no closer look."""


def tensors_in(values: Iterable[Any], found: list[torch.Tensor], depth: int = _MAX_DEPTH) -> list[torch.Tensor]:
    """Adds the tensors among `values` to `found`, those inside lists, tuples and dicts too; gives `found`."""
    for value in values:
        kind = type(value)
        if kind in PLAIN_TYPES:
            found.append(value)
        elif kind in WITHOUT_TENSORS:
            continue
        elif isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            if depth:
                tensors_in(value, found, depth - 1)
        elif kind is dict and depth:
            tensors_in(value.values(), found, depth - 1)
    return found
