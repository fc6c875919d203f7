"""Cells as the shell knows them: which compiled file name is which ``In[7]``."""

from __future__ import annotations

import linecache
import sys
from typing import Any


def running_shell() -> Any:
    """Return IPython's shell of this process; None where none runs."""
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def cells_so_far() -> dict[str, int]:
    """:func:`cell_numbers` of the shell of this process; empty where none runs."""
    shell = running_shell()
    return {} if shell is None else cell_numbers(shell)


def cell_numbers(shell: Any) -> dict[str, int]:
    """Execution count of every cell of this session, by the file name that it was compiled under."""
    # Private, since IPython 8. Where it is missing, as in IPython 7, the names are made again from the history; then
    # cells that were run without history are shown by their compiled name instead of `Cell In[7]`.
    numbers = getattr(shell.compile, "_filename_map", None)
    if numbers is not None:
        return dict(numbers)
    return {name: number for number, name, _text in cells_in_order(shell)}


def cells_in_order(shell: Any) -> list[tuple[int, str, str]]:
    """Return execution count, compiled file name and typed text of each cell of the history, oldest first.

    The lines of the text are those of tracebacks.

    The shell maps a name to its last number alone, and a cell that ran twice may have one name for both. So the names
    are computed from the text, as the shell does.
    """
    history = shell.history_manager
    if history is None:
        return []
    found = []
    # Code that runs at this moment may be adding a cell to one list before the other.
    for number, (raw, code) in enumerate(zip(history.input_hist_raw, history.input_hist_parsed, strict=False)):
        for end in ("", "\n"):  # history drops the last line break, names are made with it
            name = shell.compile.get_code_name(raw + end, code + end, number)
            if name in linecache.cache:
                found.append((number, name, _from_the_first_line(raw)))
                break
    return found


def _from_the_first_line(typed: str) -> str:
    """Return the text of a cell without what IPython takes off before it counts lines: blank lines above the first one,
    and its indentation."""
    lines = typed.splitlines(keepends=True)
    while lines and lines[0].isspace():
        del lines[0]
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())] if lines else ""
    return "".join(line.removeprefix(indent) for line in lines)
