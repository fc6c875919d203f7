"""What can still be asked of tensors after a watch: the one thing in a report that is not a record.

A report keeps weak references only, so it keeps nothing alive, and a saved report has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from inplace_magic.record.events import Number


@dataclass(frozen=True, slots=True)
class ValuesNow:
    """A tensor's elements at the moment of asking."""

    version: int | None
    shape: tuple[int, ...]
    first: tuple[Number, ...]
    """The first elements in row-major order."""
    smallest: Number | None = None
    """None where it was not worked out: no elements, a large tensor, or one that is not in CPU memory."""
    largest: Number | None = None


class LiveTensors(Protocol):
    """The tensors of a watch that may still be alive."""

    def values(self, tensor: int) -> ValuesNow | None:
        """Values of the tensor with this serial number; None when it is gone or cannot be read now."""
