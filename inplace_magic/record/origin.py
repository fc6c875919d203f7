"""How the watched program can be run again: known in the process that ran it, and of no saved report."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

from inplace_magic.record.events import Number


class Origin(Protocol):
    """Where a report came from."""

    def begun(self, frame: FrameType | None) -> AbstractContextManager[Any]:
        """While the block runs, variables hold what the program is to begin with; gives what makes its programs.

        Args:
            frame: the asker's, in whose callers the watched block may still be running.

        Raises:
            CompareError: it cannot be run again; the text says why.
        """


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
