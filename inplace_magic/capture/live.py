"""Weak references to the tensors of a watch, for later questions about their values.

A weak reference to a tensor would outlive the watch with its report, and ``torch.utils.swap_tensors`` refuses tensors
that have one. So it goes to the tensor's storage, and the tensor is the one with the ``id`` that it had then.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable
from typing import Any

import torch

from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.modes import any_active
from inplace_magic.capture.torch.probes import CallProbe
from inplace_magic.record.origin import ValuesNow

FIRST = 16
"""Most elements to return."""
WHOLE = 1_000_000
"""Up to how many elements the smallest and the largest are looked for."""


class WeakTensors:
    """The tensors that were alive when a watch ended, by serial number; a copy of it, or a pickle, has none.

    Args:
        tensors: (serial number, tensor) pairs.
    """

    def __init__(self, tensors: Iterable[tuple[int, torch.Tensor]] = ()) -> None:
        self._known = {
            serial: (id(tensor), weakref.ref(storage))
            for serial, tensor in tensors
            if type(tensor) in describe.PLAIN_TYPES and (storage := describe.storage(tensor)) is not None
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return WeakTensors, ()

    def values(self, tensor: int) -> ValuesNow | None:
        """Return the tensor's present values; None if it is gone, during a watch (which would record our reading), and
        for tensors that run other code when read: subclasses, sparse, meta and quantized ones."""
        if tensor not in self._known or any_active(CallProbe):
            return None
        found = _alive(*self._known[tensor])
        if found is None:
            return None
        try:
            return _read(found)
        except (RuntimeError, NotImplementedError):
            return None


def _alive(key: int, storage: weakref.ref[Any]) -> torch.Tensor | None:
    """Return the tensor with that ``id``, if it still has that storage. (Should a later view have got the ``id`` of a
    dead one, it shows the same memory.)"""
    memory = storage()
    if memory is None:
        return None
    for found in gc.get_objects():
        if id(found) == key:
            return found if type(found) in describe.PLAIN_TYPES and describe.storage(found) is memory else None
    return None


def _read(tensor: torch.Tensor) -> ValuesNow | None:
    if tensor.layout is not torch.strided or tensor.is_meta or tensor.is_quantized or tensor.is_complex():
        return None
    with torch.no_grad():
        values = tensor.detach()
        row = values
        while row.dim() > 1 and row.shape[0]:  # not `reshape(-1)`, which copies all of a tensor that has strides
            row = row[0]
        start = values.reshape(-1) if values.is_contiguous() else row
        small = values.device.type == "cpu" and 0 < values.numel() <= WHOLE
        ends = [end.item() for end in torch.aminmax(values)] if small else [None, None]
        first = start.reshape(-1)[:FIRST].tolist()
        return ValuesNow(describe.version(tensor), tuple(tensor.shape), tuple(first), *ends)
