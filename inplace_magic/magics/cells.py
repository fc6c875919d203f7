"""Cells as the shell knows them: which compiled file name is which ``In[7]``, and running a cell's text by hand."""

from __future__ import annotations

import ast
import linecache
import sys
from inspect import CO_NEWLOCALS
from types import FrameType
from typing import Any


def cell_numbers(shell: Any) -> dict[str, int]:
    """Execution count of every cell of this session, by the file name that it was compiled under."""
    # Private, since IPython 8. Where it is missing, as in IPython 7, the names are made again from the history; then
    # cells that were run without history are shown by their compiled name instead of `Cell In[7]`.
    numbers = getattr(shell.compile, "_filename_map", None)
    if numbers is not None:
        return dict(numbers)
    history = shell.history_manager
    if history is None:
        return {}
    found = {}
    # Code that runs at this moment may be adding a cell to one list before the other.
    for number, (raw, code) in enumerate(zip(history.input_hist_raw, history.input_hist_parsed, strict=False)):
        for end in ("", "\n"):  # history drops the last line break, names are made with it
            name = shell.compile.get_code_name(raw + end, code + end, number)
            if name in linecache.cache:
                found[name] = number
    return found


def cell_number(shell: Any, info: Any, filename: str) -> int:
    """Execution count of the running cell.

    Args:
        shell: the shell that runs it.
        info: the ``ExecutionInfo`` of the cell.
        filename: the name under which its code was compiled; code that was not compiled as a cell, such as the body of
            ``%%time``, has one that tells nothing.
    """
    numbers = cell_numbers(shell)
    if filename in numbers:
        return numbers[filename]
    history = shell.history_manager
    if history is not None and getattr(info, "store_history", False):
        # Not `shell.execution_count`: IPython 9 has counted on already when the cell begins.
        return len(history.input_hist_raw) - 1
    return int(shell.execution_count)


def running_cell(shell: Any, info: Any) -> int:
    """Execution count of the cell that this is called from, by way of a magic.

    Args:
        shell: the shell that runs it.
        info: the ``ExecutionInfo`` of the cell; None where IPython did not announce its beginning.
    """
    filename = ""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals is shell.user_global_ns and not frame.f_code.co_flags & CO_NEWLOCALS:
            filename = frame.f_code.co_filename  # the outermost such frame is the cell's
        frame = frame.f_back
    return cell_number(shell, info, filename)


def run_text(shell: Any, text: str) -> None:
    """Runs a cell's text as IPython does, but lets its exception through: a nested ``run_cell`` would keep it."""
    code = shell.transform_cell(text)
    name = shell.compile.cache(code, shell.execution_count, raw_code=text)
    statements = shell.transform_ast(shell.compile.ast_parse(code, filename=name)).body
    for statement in statements:
        shown = statement is statements[-1] and isinstance(statement, ast.Expr) and not code.rstrip().endswith(";")
        tree = ast.Interactive([statement]) if shown else ast.Module([statement], [])
        exec(shell.compile(tree, name, "single" if shown else "exec"), shell.user_global_ns, shell.user_ns)
