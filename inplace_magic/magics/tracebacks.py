"""The traceback that IPython prints for a watched cell, without the entries that the watch put in."""

from __future__ import annotations

import sys
from typing import Any


class ShortTracebacks:
    """``shell.showtraceback`` for the time of a watched cell: IPython prints before it says that the cell has ended.

    Args:
        shell: the shell.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._ours: Any = None

    def on(self) -> None:
        """Stands in for the shell's method."""
        if self._ours is not None:
            return
        shown = self._shell.showtraceback
        self._before = vars(self._shell).get("showtraceback")

        def showtraceback(exc_tuple: Any = None, *args: Any, **kwargs: Any) -> Any:
            error = (exc_tuple or sys.exc_info())[1]
            if error is not None:
                from inplace_magic.api import without_detours

                without_detours(error)
            return shown(exc_tuple, *args, **kwargs)

        self._ours = self._shell.showtraceback = showtraceback

    def off(self) -> None:
        """Puts the method back, unless somebody else has put another one there meanwhile."""
        ours, self._ours = self._ours, None
        if ours is None or vars(self._shell).get("showtraceback") is not ours:
            return
        if self._before is None:
            del self._shell.showtraceback
        else:
            self._shell.showtraceback = self._before
