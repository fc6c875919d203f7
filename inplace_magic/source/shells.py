"""Cells as a notebook knows them: IPython's shell, where a compiled file name is an ``In[7]``, and marimo's runtime.

marimo's cells have no numbers and are named in the files that they compile to. It sets no ``sys.last_value``; a cell
stores its error. We read objects of the running kernel; if another version has different ones, nothing is known.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Mapping
from typing import Any

_MARIMO = "marimo._runtime.context.types"


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


def _marimo() -> Any:
    """Return the running notebook; None outside one."""
    find = getattr(sys.modules.get(_MARIMO), "safe_get_context", None)
    return find() if callable(find) else None


def marimo_names() -> Mapping[str, object] | None:
    """Return the names of the running notebook; None outside one."""
    names = getattr(_marimo(), "globals", None)
    return names if isinstance(names, Mapping) else None


def marimo_cells() -> list[tuple[str, str]]:
    """Return compiled file name and text of each cell, each after those whose names it reads."""
    graph = getattr(_marimo(), "graph", None)
    parents = getattr(graph, "parents", None)
    known: dict[Any, Any] = dict(getattr(graph, "cells", None) or {})
    ordered: dict[Any, None] = {}

    def put(cell: Any) -> None:
        if cell in ordered or cell not in known:
            return
        for each in sorted(parents.get(cell, ()), key=list(known).index) if isinstance(parents, Mapping) else ():
            put(each)
        ordered.setdefault(cell)

    for each in known:
        put(each)
    named = ((getattr(getattr(known[each], "body", None), "co_filename", None), known[each]) for each in ordered)
    return [(name, str(getattr(cell, "code", ""))) for name, cell in named if isinstance(name, str)]


def marimo_error() -> BaseException | None:
    """Return the error of the last failed cell; None outside a notebook or without a failure."""
    context = _marimo()
    known = getattr(getattr(context, "graph", None), "cells", None) or {}
    raised = [getattr(cell, "exception", None) for cell in known.values()]
    errors = [error for error in raised if isinstance(error, BaseException)]
    newest = getattr(getattr(getattr(context, "_kernel", None), "debugger", None), "_last_traceback", None)
    return next((error for error in errors if error.__traceback__ is newest), errors[-1] if errors else None)
