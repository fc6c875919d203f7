"""The traceback that IPython prints for a watched cell: that of the unwatched one, entry for entry."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

from inplace_magic.magics.cells import frames_of_cells

ANSI = re.compile(r"\x1b\[[0-9;]*m")


class ShortTracebacks:
    """``shell.showtraceback`` during a watched cell: IPython prints before it announces the end of the cell.

    Args:
        above: called once with the error that left the cell, before its traceback is printed.
        typed: the line as it was typed, of a line that is a call of ours; None for any other line.
    """

    def __init__(self, shell: Any, above: Callable[[BaseException], None], typed: Callable[[str], str | None]) -> None:
        self._shell = shell
        self._above = above
        self._typed = typed
        self._replaced: dict[str, tuple[Any, Any]] = {}
        """By method name of the shell: our method, and the one that the shell's namespace had before."""

    def on(self) -> None:
        """Stands in for the shell's methods."""
        if self._replaced:
            return
        shown = self._shell.showtraceback

        def showtraceback(exc_tuple: Any = None, *args: Any, **kwargs: Any) -> Any:
            error = (exc_tuple or sys.exc_info())[1]
            if error is not None:
                from inplace_magic.watching.api import without_detours

                without_detours(error)
                if not frames_of_cells(self._shell):  # else a cell prints a traceback of its own
                    self._above(error)
            return shown(exc_tuple, *args, **kwargs)

        self._stand_in("showtraceback", showtraceback)
        printed = getattr(self._shell, "_showtraceback", None)  # private, and the same since IPython 0.11
        if printed is None:
            return

        def _showtraceback(kind: Any, error: Any, lines: Any, *args: Any, **kwargs: Any) -> Any:
            return printed(kind, error, self._as_typed(lines), *args, **kwargs)

        self._stand_in("_showtraceback", _showtraceback)

    def off(self) -> None:
        """Restore the methods, unless somebody else has replaced them meanwhile."""
        replaced, self._replaced = self._replaced, {}
        for name, (ours, before) in replaced.items():
            if vars(self._shell).get(name) is not ours:
                continue
            if before is None:
                delattr(self._shell, name)
            else:
                setattr(self._shell, name, before)

    def _stand_in(self, name: str, ours: Any) -> None:
        self._replaced[name] = ours, vars(self._shell).get(name)
        setattr(self._shell, name, ours)

    def _as_typed(self, lines: Any) -> Any:
        """Return the printed lines, ours as they were typed."""
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            return lines
        return ["\n".join(self._line(line) for line in part.split("\n")) for part in lines]

    def _line(self, line: str) -> str:
        plain = ANSI.sub("", line)
        typed = self._typed(plain)
        if typed is None:
            return line
        number = re.match(r"(?:-+>)?\s*\d*\s", plain)
        return f"{number[0] if number is not None else ''}{typed}"
