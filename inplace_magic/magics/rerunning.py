"""A watched cell as a program that can be run again: its text with changes, in the notebook's namespace."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING, Any

from IPython.utils.capture import capture_output

from inplace_magic.errors import CompareError, CopyError
from inplace_magic.language import _
from inplace_magic.magics.cells import cell_numbers
from inplace_magic.magics.compare import program_of_cell

if TYPE_CHECKING:
    from inplace_magic.rerun.program import CellProgram
    from inplace_magic.rerun.snapshot import Snapshot
    from inplace_magic.source.hunks import Hunk, Whose


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A cell that was run.

    Args:
        shell: the shell.
        number: its execution count.
        source: its text as it was typed.
        snapshot: what it begins with, where that was kept; else what the variables hold when it is run again.
        problem: why nothing could be kept, though it was to be.
    """

    shell: Any
    number: int
    source: str
    snapshot: Snapshot | None = None
    problem: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        return _nowhere, ()  # a copy or a pickle of its report knows no shell

    @contextmanager
    def begun(self, _frame: FrameType | None) -> Iterator[StagedCell]:
        """See :class:`.Origin`."""
        if self.problem:
            raise CopyError(self.problem)
        with self.snapshot.begun() if self.snapshot is not None else nullcontext():
            yield StagedCell(self)


def remembered(cell: Cell) -> Cell:
    """The cell with a snapshot of what it begins with, taken now; where that cannot be, with the reason."""
    from inplace_magic.rerun.snapshot import Snapshot

    try:
        program = program_of_lines(cell.shell, tuple(cell.source.splitlines()), cell.number, keep=False)
        return replace(cell, snapshot=Snapshot(program.codes, cell.shell.user_ns))
    except CompareError as refused:
        return replace(cell, problem=str(refused))


def _nowhere() -> None:
    return None


@dataclass(frozen=True, slots=True, eq=False)
class StagedCell:
    """A cell whose variables are at hand."""

    cell: Cell

    def quiet(self) -> AbstractContextManager[Any]:
        """A context in which nothing is printed or displayed."""
        return capture_output()

    @property
    def cells(self) -> dict[str, int]:
        """Execution count by compiled file name."""
        return cell_numbers(self.cell.shell)

    @contextmanager
    def program(self, changes: Mapping[Whose, list[Hunk]]) -> Iterator[CellProgram]:
        """The cell with changes, of it and of other cells and files, while the block of this runs.

        Raises:
            CompareError: the text is not Python that can run here, or a change cannot be made.
        """
        from inplace_magic.rerun.replacing import replaced
        from inplace_magic.source.hunks import changed

        cell, shell = self.cell, self.cell.shell
        others: dict[str, tuple[tuple[str, ...], list[Hunk]]] = {}
        lines = tuple(cell.source.splitlines())
        for (number, file), hunks in changes.items():
            if number == cell.number and file is None:
                lines = changed(lines, hunks)
            else:
                name = file if file is not None else self._name(number)
                others[name] = tuple(_lines_of(name)), hunks
        with replaced(others):
            yield program_of_lines(shell, lines, cell.number, keep=not changes)

    def _name(self, number: int | None) -> str:
        """The name under which another cell was compiled."""
        found = [name for name, count in self.cells.items() if count == number]
        if not found:
            raise CompareError(_("The text of cell In[{number}] is not known any more.").format(number=number))
        return found[-1]


def _lines_of(name: str) -> list[str]:
    return [line.rstrip("\n") for line in linecache.getlines(name)]


def program_of_lines(shell: Any, lines: tuple[str, ...], number: int, *, keep: bool = True) -> CellProgram:
    """The program of a cell whose first line may be a magic of ours.

    Args:
        shell: the shell.
        lines: the cell's.
        number: its execution count.
        keep: the shell keeps the text, as it does of a cell that was run; a changed one it need not know.
    """
    above = 0
    while above < len(lines) and (not lines[above].strip() or lines[above].lstrip().startswith("%%inplace")):
        above += 1
    head = "".join(f"{line}\n" for line in lines[:above])
    return program_of_cell(shell, f"In[{number}]", "\n".join(lines[above:]) + "\n", number, above=head, keep=keep)
