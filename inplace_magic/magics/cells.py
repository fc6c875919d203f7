"""Cells as the shell runs them: the number of the one that runs, and running a cell's text by hand."""

from __future__ import annotations

import ast
import dis
import sys
from inspect import CO_NEWLOCALS
from traceback import walk_stack
from types import FrameType
from typing import Any

from inplace_magic.source.shells import cell_numbers


def cell_number(shell: Any, info: Any, filename: str) -> int:
    """Return the execution count of the running cell.

    Args:
        info: the ``ExecutionInfo`` of the cell.
        filename: file name of its code; it says nothing for code not compiled as a cell, such as the body of
            ``%%time``.
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
        info: the ``ExecutionInfo`` of the cell; None where IPython did not announce its beginning.
    """
    frames = frames_of_cells(shell)
    return cell_number(shell, info, frames[-1].f_code.co_filename if frames else "")


def value_is_used(shell: Any) -> bool:
    """True if a magic's result is used, as in ``r = %inplace_report``, and not for a statement of its own.

    The next instruction shows it: a statement drops the value or displays it.
    """
    for frame in frames_of_cells(shell)[:1]:
        for step in dis.get_instructions(frame.f_code):
            if step.offset > frame.f_lasti:
                printed = (step.opname, step.argrepr) == ("CALL_INTRINSIC_1", "INTRINSIC_PRINT")
                return not (printed or step.opname in ("POP_TOP", "PRINT_EXPR"))
    return False


def frames_of_cells(shell: Any) -> list[FrameType]:
    """Return the frames of cells that this is called from, the innermost first."""
    frames = (frame for frame, _line in walk_stack(sys._getframe(1)))
    return [
        frame
        for frame in frames
        if frame.f_globals is shell.user_global_ns and not frame.f_code.co_flags & CO_NEWLOCALS
    ]


def run_text(shell: Any, text: str) -> None:
    """Runs a cell's text as IPython does, but lets its exception through: a nested ``run_cell`` would keep it."""
    code = shell.transform_cell(text)
    name = shell.compile.cache(code, shell.execution_count, raw_code=text)
    statements = shell.transform_ast(shell.compile.ast_parse(code, filename=name)).body
    for statement in statements:
        shown = statement is statements[-1] and isinstance(statement, ast.Expr) and not code.rstrip().endswith(";")
        tree = ast.Interactive([statement]) if shown else ast.Module([statement], [])
        exec(shell.compile(tree, name, "single" if shown else "exec"), shell.user_global_ns, shell.user_ns)
