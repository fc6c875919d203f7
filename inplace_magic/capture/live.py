"""Weak references to the tensors of a watch, for whoever asks later what is in them."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import torch

from inplace_magic.capture import describe
from inplace_magic.capture.modes import any_active
from inplace_magic.capture.probes import CallProbe
from inplace_magic.live import ValuesNow

FIRST = 16
"""How many elements are given."""
WHOLE = 1_000_000
"""Up to how many elements the smallest and the largest are looked for."""


class WeakTensors:
    """The tensors that were alive when a watch ended, by serial number; a copy of it, or a pickle, has none.

    Args:
        tensors: (serial number, tensor) pairs.
    """

    def __init__(self, tensors: Iterable[tuple[int, torch.Tensor]] = ()) -> None:
        self._references = {serial: weakref.ref(tensor) for serial, tensor in tensors}

    def __reduce__(self) -> tuple[Any, ...]:
        return WeakTensors, ()

    def values(self, tensor: int) -> ValuesNow | None:
        """What the tensor holds now; None when it is gone, while a watch runs (which would record our reading), and for
        what cannot be read without running other code: subclasses, sparse, meta and quantized tensors."""
        reference = self._references.get(tensor)
        found = reference() if reference is not None else None
        if found is None or type(found) not in describe.PLAIN_TYPES or any_active(CallProbe):
            return None
        try:
            return _read(found)
        except (RuntimeError, NotImplementedError):
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
