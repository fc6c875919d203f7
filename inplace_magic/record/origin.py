"""How the watched program can run again: known only in the process that ran it, not for a saved report."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

from inplace_magic.record.events import Number


class Origin(Protocol):
    """Where a report came from."""

    def begun(self, frame: FrameType | None) -> AbstractContextManager[Any]:
        """In this block, variables have the program's initial values; yields the maker of its programs.

        Args:
            frame: frame of the caller, above which the watched block may still be running.

        Raises:
            CompareError: it cannot be run again; the text says why.
        """


@dataclass(frozen=True, slots=True)
class ValuesNow:
    """A tensor's present elements."""

    version: int | None
    shape: tuple[int, ...]
    first: tuple[Number, ...]
    """The first elements in row-major order."""
    smallest: Number | None = None
    """None if unknown: no elements, a large tensor, or one outside CPU memory."""
    largest: Number | None = None


class LiveTensors(Protocol):
    """The tensors of a watch that may still be alive."""

    def values(self, tensor: int) -> ValuesNow | None:
        """Return the values of the tensor with this serial number; None if it is gone or unreadable now."""
