"""The report of a program that runs on copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_magic.language import language
from inplace_magic.report import Report
from inplace_magic.watching.api import watch

if TYPE_CHECKING:
    from inplace_magic.rerun.run import Runner


def watched(runner: Runner, cells: dict[str, int], observer: watch | None = None) -> Report:
    """Return the report of one run on copies.

    Args:
        cells: execution count by compiled file name, for code of other cells.
        observer: the watch; None: a new one.
    """
    from inplace_magic.rerun.backwards import Stopped
    from inplace_magic.rerun.program import CellProgram, StoryProgram

    program = runner.program
    assert isinstance(program, (CellProgram, StoryProgram))
    story = program if isinstance(program, StoryProgram) else StoryProgram((program,))
    observer = observer or watch(lang=language())
    error: Exception | None = None
    with runner.stage() as copies:
        for part in story.parts:
            observer.start(cell=part.cell, filename=part.filename, source=part.source)
            try:
                story.run_part(part)
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
