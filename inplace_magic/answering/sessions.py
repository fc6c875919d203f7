"""The names and cells at hand for an error, from the notebook or the script."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator, Mapping
from traceback import walk_tb
from typing import Any

from inplace_magic.postmortem import Cell
from inplace_magic.source.shells import cell_numbers, cells_in_order, marimo_cells, marimo_names, running_shell


def at_hand(
    error: BaseException, number: int | None = None, cells: Mapping[str, int] | None = None
) -> tuple[Mapping[str, object], tuple[Cell, ...]]:
    """Return the user's names, and the cells that had run when an error was raised.

    Args:
        error: with its traceback.
        number: execution count of the cell that raised it, where that is known.
        cells: execution count by compiled file name, where cells run under other names than the shell gave them.
    """
    shell, names = running_shell(), marimo_names()
    files = list(_files(error))
    if shell is not None:
        return shell.user_ns, _cells_of_shell(shell, files, number, cells or {})
    if names is not None:
        return names, _cells_of_marimo(files)
    return vars(sys.modules["__main__"]), ()


def failed_cell(error: BaseException) -> int | None:
    """Return the execution count of the cell that raised an error; None if it was no cell of this shell."""
    shell = running_shell()
    numbers = cell_numbers(shell) if shell is not None else {}
    return next((numbers[name] for name in _files(error) if name in numbers), None)


def _files(error: BaseException) -> Iterator[str]:
    """Yield the compiled file names of a traceback, the outermost first."""
    return (frame.f_code.co_filename for frame, _line in walk_tb(error.__traceback__))


def _cells_of_shell(shell: Any, files: list[str], number: int | None, renamed: Mapping[str, int]) -> tuple[Cell, ...]:
    """Return the cells up to the failed one, each as often as it ran."""
    names = {count: name for name, count in renamed.items()}
    known = [(count, names.get(count, name), text) for count, name, text in cells_in_order(shell)]
    numbers = {**cell_numbers(shell), **renamed}
    failed = next((name for name in files if name in numbers), None)
    if failed is None:
        return tuple(Cell(name, count, text) for count, name, text in known)
    if number is None:
        number = max((count for count, name, _text in known if name == failed), default=numbers[failed])
    text = next((text for count, _name, text in known if count == number), None)
    before = tuple(Cell(name, count, typed) for count, name, typed in known if count < number)
    if text is None:
        text = "".join(linecache.getlines(failed))
    return (*before, Cell(failed, number, text))


def _cells_of_marimo(files: list[str]) -> tuple[Cell, ...]:
    cells = [Cell(name, None, text) for name, text in marimo_cells()]
    failed = next((name for name in files if any(cell.filename == name for cell in cells)), None)
    return tuple(sorted(cells, key=lambda cell: cell.filename == failed))
