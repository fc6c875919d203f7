"""Cells as a program that can be run again: their texts with changes, in the notebook's namespace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import TYPE_CHECKING, Any

from IPython.utils.capture import capture_output

from inplace_magic.errors import CompareError, CopyError
from inplace_magic.magics.compare import program_of_cell
from inplace_magic.rerun.program import CellProgram, StoryProgram
from inplace_magic.source.hunks import Hunk, Whose, changed
from inplace_magic.source.shells import cell_numbers

if TYPE_CHECKING:
    from inplace_magic.rerun.twins import Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Cells that ran.

    Args:
        texts: execution count and typed text of each, in the order of their runs.
        snapshot: their initial values, if stored; otherwise the variables' values at the time of the second run.
        problem: why the initial values could not be stored, though asked for.
        may_fail: execution counts of cells that failed then, too, and did not stop the next one.
    """

    shell: Any
    texts: tuple[tuple[int, str], ...]
    snapshot: Snapshot | None = None
    problem: str = ""
    may_fail: frozenset[int] = frozenset()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()  # a copy or a pickle of its report knows no shell

    @contextmanager
    def begun(self, _frame: FrameType | None) -> Iterator[StagedCells]:
        """See :class:`.Origin`."""
        if self.problem:
            raise CopyError(self.problem)
        with self.snapshot.begun() if self.snapshot is not None else nullcontext():
            yield StagedCells(self)


def remembered(cells: Cells) -> Cells:
    """Return the cells with a snapshot of their initial values, taken now, or with the reason why there is none."""
    from inplace_magic.rerun.twins import Snapshot

    try:
        program = program_of(cells, {})
        return replace(cells, snapshot=Snapshot(program.codes, cells.shell.user_ns))
    except CompareError as refused:
        return replace(cells, problem=str(refused))


_NAME = "<ipython-input-{number}-again>"
_SEEN_THROUGH = re.compile(r"\s*%%(inplace_watch|time|capture|prun)\b")
"""Cell magics that run the lines below them as a cell."""


def another_kind(text: str) -> str:
    """Return the magic that makes a cell something else than Python; empty where there is none."""
    lines = text.splitlines()
    above = _above(lines)
    return lines[above].split()[0] if above < len(lines) and lines[above].lstrip().startswith("%%") else ""


def _above(lines: Sequence[str]) -> int:
    """Return the number of lines of transparent magics at the top of a cell."""
    return next((n for n, line in enumerate(lines) if line.strip() and not _SEEN_THROUGH.match(line)), len(lines))


@dataclass(frozen=True, slots=True, eq=False)
class StagedCells:
    """Cells with their variables at hand."""

    origin: Cells
    _compiled: dict[Any, CellProgram] = field(default_factory=dict)
    """Compiled code by execution count and text: each cell runs many times, nearly always unchanged."""

    quiet = staticmethod(capture_output)
    """Makes a context in which nothing is printed or displayed."""

    @property
    def cells(self) -> dict[str, int]:
        """Execution count by compiled file name."""
        own = {_NAME.format(number=number): number for number, _text in self.origin.texts}
        return {**cell_numbers(self.origin.shell), **own}

    @contextmanager
    def program(self, changes: Mapping[Whose, list[Hunk]]) -> Iterator[CellProgram | StoryProgram]:
        """In this block, the program of the cells with changes of them and of other cells and files.

        Raises:
            CompareError: a text is not Python that can run here, or a change cannot be made.
        """
        from inplace_magic.rerun.replacing import changes_by_name, replaced, texts_known

        own = {number for number, _text in self.origin.texts}
        others = {whose: hunks for whose, hunks in changes.items() if whose[1] is not None or whose[0] not in own}
        program = program_of(self.origin, changes, self._compiled)
        parts = program.parts if isinstance(program, StoryProgram) else (program,)
        with replaced(changes_by_name(others, self.cells)), texts_known({each.filename: each.source for each in parts}):
            yield program


def program_of(
    cells: Cells, changes: Mapping[Whose, list[Hunk]], compiled: dict[Any, CellProgram] | None = None
) -> CellProgram | StoryProgram:
    """Return the program of some cells, compiled under names of its own, so that the shell's record of them does not
    change.

    Args:
        compiled: cache of compiled code, by execution count and text.
    """
    known = {} if compiled is None else compiled
    parts = []
    for number, text in cells.texts:
        lines = changed(text.splitlines(), changes.get((number, None), []))
        if (number, lines) not in known:
            known[number, lines] = _program_of_lines(cells.shell, lines, number)
        parts.append(known[number, lines])
    return parts[0] if len(parts) == 1 else StoryProgram(tuple(parts), cells.may_fail)


def _program_of_lines(shell: Any, lines: tuple[str, ...], number: int) -> CellProgram:
    """Return the program of a cell below magics that are seen through."""
    above = _above(lines)
    head, text = "".join(f"{line}\n" for line in lines[:above]), "\n".join(lines[above:]) + "\n"
    return program_of_cell(shell, f"In[{number}]", text, number, above=head, filename=_NAME.format(number=number))
