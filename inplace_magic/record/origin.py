"""How the watched program can be run again: known in the process that ran it, and of no saved report."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, Protocol


class Origin(Protocol):
    """Where a report came from."""

    def begun(self, frame: FrameType | None) -> AbstractContextManager[Any]:
        """While the block runs, variables hold what the program is to begin with; gives what makes its programs.

        Args:
            frame: the asker's, in whose callers the watched block may still be running.

        Raises:
            CompareError: it cannot be run again; the text says why.
        """
