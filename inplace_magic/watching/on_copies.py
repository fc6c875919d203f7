"""The report of a program that runs again on copies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from inplace_magic.report import Report
from inplace_magic.watching.api import watch

if TYPE_CHECKING:
    from inplace_magic.rerun.run import Runner


def watched(
    runner: Runner, observer: watch, *, cells: Mapping[str, int] | None = None, backward: bool = False
) -> Report:
    """Return the report of one run on copies.

    Args:
        observer: the watch.
        cells: execution count by compiled file name, for code of other cells.
        backward: run backward of the result as well.
    """
    from inplace_magic.rerun.backwards import Stopped
    from inplace_magic.rerun.outcome import backward_of
    from inplace_magic.rerun.program import CellProgram, StoryProgram

    program = runner.program
    story = program if isinstance(program, StoryProgram) else None
    error: Exception | None = None
    with runner.stage() as copies:
        for part in story.parts if story is not None else (program,):
            cell = part if isinstance(part, CellProgram) else None
            if cell is not None:
                observer.start(cell=cell.cell, filename=cell.filename, source=cell.source)
            else:
                observer.start(cell_globals={})
            try:
                value = story.run_part(cell) if story is not None and cell is not None else part.run(copies.roots)
                if backward:
                    backward_of(value)
            except Stopped:
                break
            except Exception as raised:  # the program's own, which belongs to its report
                if isinstance(raised, NameError) and raised.name in copies.refused:
                    raise
                error = raised
                break
            finally:
                observer.leave()
        return observer.stop(namespace=program.namespace, cells=cells, error=error)
