"""The watch of one cell: what its ``%%inplace_watch`` line begins, and what ends with the cell."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FrameType

from IPython.core.error import UsageError

from inplace_magic.analysis.story import indexed_once
from inplace_magic.errors import InplaceMagicError
from inplace_magic.flags import Options
from inplace_magic.language import _
from inplace_magic.magics.cell_transform import MAGIC
from inplace_magic.magics.cells import cell_number, run_text
from inplace_magic.magics.options import help_of, parse_options, watch_parser
from inplace_magic.magics.output import runs_shown
from inplace_magic.magics.rerunning import Cells, remembered
from inplace_magic.magics.session import Session
from inplace_magic.render.deliver import boundary, complain
from inplace_magic.report import Report
from inplace_magic.watching.api import watch


@dataclass(frozen=True, slots=True)
class Active:
    """The watch of one cell, while it runs."""

    watch: watch
    options: Options
    owner: object
    """What ends the watch: the ``ExecutionInfo`` of the running cell, or one call of the cell magic."""
    origin: Cells
    """How the cell can be run again."""
    report: Report | None = None
    """Where an error left the cell, made before IPython printed its traceback."""
    shown: bool = False
    """It stands above the traceback."""


def begin(session: Session, line: str, key: str, frame: FrameType) -> None:
    """Start to watch the running cell.

    Args:
        key: key of the cell's text, see :class:`.WatchLine`.

    Raises:
        UsageError: the cell cannot be watched as asked.
    """
    options = parse_options(line, defaults=session.defaults)
    if not session.running:
        text = _("`{magic}` cannot watch a cell that runs silently; run it with silent=False.")
        raise UsageError(text.format(magic=MAGIC))
    if session.active is not None:
        sentence = _("This cell cannot be watched: the watch of {place} is still running.")
        raise UsageError(sentence.format(place=f"Cell In[{session.active.origin.texts[0][0]}]"))
    if session.story is not None and session.story.cell_open:
        sentence = _(
            "inplace_magic: this cell is watched already, by `%inplace_watch on` in {place}; after "
            "`%inplace_watch off`, `{magic}` gives it a report of its own."
        )
        print(sentence.format(place=session.story.since, magic=MAGIC))
        return
    shell, owner = session.shell, session.running[-1]
    filename = frame.f_code.co_filename
    cell = cell_number(shell, owner, filename)
    source = session.transform.source(key) or "".join(linecache.getlines(filename))
    origin = Cells(shell, ((cell, source),))
    if options.deliver.prove:
        origin = remembered(origin)
    session.active = Active(watch(options.watch), options, owner, origin)
    try:
        session.active.watch.start(cell=cell, filename=filename, source=source, frame=frame)
        session.tracebacks.on()
    except InplaceMagicError as error:
        session.active = None
        raise UsageError(str(error)) from None
    except Exception as error:  # a boundary: our fault must not cost the user the cell
        session.active = None
        complain(_("this cell runs unwatched, because the watch could not start"), error)


def finish(session: Session, raised: BaseException | None) -> None:
    """End the active watch, if there is one: store the report, bind it to the ``--out`` name, display it and write
    ``--save``."""
    active, session.active = session.active, None
    if active is None:
        return
    session.tracebacks.off()
    if active.shown:
        return
    with indexed_once():
        report = active.report or stopped(session, active, raised)
        if report is not None and active.options.deliver.prove:
            report = proved(report, replace(active.origin, snapshot=None))
        if report is not None:
            session.deliver(report, active.options)


def proved(report: Report, origin: Cells) -> Report:
    """Return the report with tried fixes; unchanged, with a printed line, if that failed or was interrupted."""
    try:
        with boundary(_("the fixes could not be tried")), runs_shown("--prove", origin.shell):
            report = report.prove()
    except KeyboardInterrupt:
        print(_("inplace_magic: interrupted; the fixes were not tried, and your variables are as the cell left them."))
    return replace(report, origin=origin)  # the copies of before the cell are no longer needed


def stopped(session: Session, active: Active, raised: BaseException | None) -> Report | None:
    """Ends a watch and makes its report; None, and a line that says so, where that failed."""
    report = session.made(active.watch.stop, raised, _("the cell was watched, but no report could be made"))
    return report and replace(report, origin=active.origin)


def cell_magic(session: Session) -> Callable[[str, str], None]:
    """The registered magic, for ``?`` and completion, and for cells that the input transformer did not see.

    Those are ``get_ipython().run_cell_magic(...)``, as scripts exported from notebooks have it, and cells pasted with
    prompts.
    """

    def inplace_watch(line: str, cell: str) -> None:
        owner = object()
        session.running.append(owner)
        raised: BaseException | None = None
        try:
            run_text(session.shell, f"{MAGIC} {line}\n{cell}")
        except BaseException as error:
            raised = error
            raise
        finally:
            session.running.remove(owner)
            if session.active is not None and session.active.owner is owner:
                finish(session, raised)
            del raised  # it holds this frame through its traceback

    inplace_watch.__doc__ = help_of(watch_parser)
    return inplace_watch
