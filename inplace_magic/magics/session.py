"""What one shell has of ours while the extension is loaded: the watch of the running cell, the story, the settings.

IPython tells it when cells begin and end. The ``post_run_cell`` event stops a cell's watch and displays the report,
after the cell's own output and its own traceback; where an error left the cell, the report is made before IPython
prints it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from inplace_magic.analysis.story import indexed_once
from inplace_magic.deliver import complain, has_note, write
from inplace_magic.flags import Options
from inplace_magic.language import _
from inplace_magic.last import note
from inplace_magic.magics.cell_story import CellStory, begin_cell
from inplace_magic.magics.cell_transform import MAGIC, WatchLine
from inplace_magic.magics.fix import KEPT
from inplace_magic.magics.hint import hint_for
from inplace_magic.magics.output import show, show_widget
from inplace_magic.magics.progress import runs_shown
from inplace_magic.magics.rerunning import Cells
from inplace_magic.magics.tracebacks import ShortTracebacks
from inplace_magic.record.options import ShowOptions
from inplace_magic.source.shells import cell_numbers

if TYPE_CHECKING:
    from inplace_magic.api import watch
    from inplace_magic.report import Report


MOST_FAILURES = 100
"""Cells of which it is kept that they failed."""


@dataclass(frozen=True, slots=True)
class Active:
    """The watch of one cell, while it runs."""

    watch: watch
    options: Options
    owner: object
    """What ends the watch: the ``ExecutionInfo`` of the running cell, or one call of the cell magic."""
    place: str
    origin: Cells | None = None
    """How the cell can be run again."""
    report: Report | None = None
    """Where an error left the cell, made before IPython printed its traceback."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An unwatched cell that failed."""

    error: str
    """As ``RuntimeError: text``, cut."""
    explained: bool
    """Whether a watch explains such errors."""


@dataclass(slots=True, eq=False)
class Session:
    """What one shell has of ours, from ``load`` to ``unload``."""

    shell: Any
    transform: WatchLine = field(default_factory=WatchLine)
    tracebacks: ShortTracebacks = field(init=False)
    running: list[Any] = field(default_factory=list)
    """The cells that are running now, the innermost last: a cell can run another one by ``run_cell``."""
    active: Active | None = None
    story: CellStory | None = None
    """Between ``%inplace_watch on`` and ``off``."""
    defaults: dict[str, Any] = field(default_factory=dict)
    """What ``%inplace_config`` set for the watches to come."""
    _last: tuple[Report, ShowOptions] | None = None
    by_cell: dict[int, Report] = field(default_factory=dict)
    """The last report of each of the cells reported last, by execution count."""
    failed: dict[int, Failed] = field(default_factory=dict)
    """The unwatched cells that failed, by execution count, in the order in which they did."""
    replaced: list[tuple[dict[str, Any], str, Any]] = field(default_factory=list)
    """Entries of the shell's magic tables that ours stand in for, to be put back."""

    def __post_init__(self) -> None:
        self.tracebacks = ShortTracebacks(self.shell, self.verdict_on, self.transform.typed)

    @property
    def last(self) -> tuple[Report, ShowOptions] | None:
        """The report that was made last; the one of a story is made now where it was put off."""
        if self.story is not None:
            self.story.catch_up()
        return self._last

    def pre_run_cell(self, info: Any) -> None:
        if not self.running and self.active is not None:
            finish(self, None)  # its own post_run_cell never came; the next cell must not be watched by it
        if not self.running and self.story is not None:
            begin_cell(self.story)
        self.running.append(info)

    def post_execute(self) -> None:
        # A cell whose beginning was not announced switched the story on. If it runs silently, its end is not either.
        if not self.running and self.story is not None:
            self.story.leave()

    def post_run_cell(self, result: Any) -> None:
        owner = self._leave(getattr(result, "info", None))
        raised = getattr(result, "error_before_exec", None) or getattr(result, "error_in_exec", None)
        if self.active is not None:
            if self.active.owner is owner:
                finish(self, raised)
        elif self.story is not None and self.story.cell_open:
            if not self.running:
                self.story.end_cell(raised)
        elif raised is not None:
            self._note_failure(result, raised)

    def _note_failure(self, result: Any, raised: BaseException) -> None:
        """Keeps what an unwatched cell raised, as text; where a watch explains it, one line says how to ask."""
        number, hint = getattr(result, "execution_count", None), hint_for(raised)
        if number is not None and isinstance(raised, Exception) and not isinstance(raised, UsageError):
            self.failed.pop(number, None)
            self.failed[number] = Failed(f"{type(raised).__name__}: {_first_line(raised)}", hint is not None)
            for oldest in tuple(self.failed)[:-MOST_FAILURES]:
                del self.failed[oldest]
        if hint is not None and not has_note(raised):
            print(_(hint))

    def verdict_on(self, error: BaseException) -> str:
        """What a watched cell's report says of the error that left it, in one line; empty where it explains nothing."""
        try:
            return self._verdict_on(error)
        except Exception as fault:  # a boundary: the user's traceback is printed whatever becomes of ours
            complain(_("the report could not be displayed"), fault)
            return ""

    def _verdict_on(self, error: BaseException) -> str:
        active = self.active
        if active is None and self.story is not None and self.story.cell_open and len(self.running) <= 1:
            return self.story.verdict_on(error)
        if active is None or not self.running or self.running[-1] is not active.owner:
            return ""
        report = stopped(self, active, error)
        if report is None:
            self.active = None
            self.tracebacks.off()
            return ""
        self.active = replace(active, report=report)
        from inplace_magic.render.verdict import explanation

        return explanation(report)

    def can_begin(self) -> None:
        """Refuses a story inside a cell that is watched on its own."""
        if self.active is not None:
            raise UsageError(
                _("`{magic}` watches this cell; write `%inplace_watch on` into a cell of its own.").format(magic=MAGIC)
            )

    def keep(self, report: Report, options: Options) -> Report:
        """Makes a report the last one and binds it to the ``--out`` name, which it then knows."""
        report = replace(report, name=options.deliver.out or "")
        note(report)
        self._last = report, options.show
        if report.trace.cell is not None:
            self.by_cell.pop(report.trace.cell, None)
            self.by_cell[report.trace.cell] = report
            for oldest in tuple(self.by_cell)[:-KEPT]:
                del self.by_cell[oldest]
        if options.deliver.out is not None:
            self.shell.user_ns[options.deliver.out] = report
        return report

    def deliver(self, report: Report, options: Options, *, told: bool = False) -> None:
        """Keeps a report, displays it, its findings folded where they were told before, and writes ``--save``."""
        report = self.keep(report, options)
        show(self.shell, report, options.show, beside_widget=options.deliver.widget is not None, told=told)
        if options.deliver.widget is not None:
            show_widget(self.shell, report, options.deliver.widget)
        if options.deliver.save is not None:
            write(report, options.deliver.save, options.show)

    def _leave(self, info: Any) -> Any:
        """Takes the cell that ended off the list.

        It is found by identity, not by depth, since IPython announces the end of cells whose beginning it did not
        announce: a blank cell, and the one with ``%load_ext``. When an exception such as Ctrl-C leaves the cell's
        coroutine, IPython announces it with another ``ExecutionInfo`` of the same text, ipykernel with None.
        """
        for index, cell in enumerate(self.running):
            if cell is info:
                return self.running.pop(index)
        if self.running and (info is None or getattr(self.running[-1], "raw_cell", None) == info.raw_cell):
            return self.running.pop()
        return None


def finish(session: Session, raised: BaseException | None) -> None:
    """Ends the active watch: keeps the report, binds it to the ``--out`` name, displays it and writes ``--save``.

    Args:
        session: whose watch ends; without an active one nothing happens.
        raised: what the cell raised.
    """
    active, session.active = session.active, None
    if active is None:
        return
    session.tracebacks.off()
    with indexed_once():
        report = active.report or stopped(session, active, raised)
        if report is not None and active.options.deliver.prove:
            report = proved(report, active.origin and replace(active.origin, snapshot=None))
        if report is not None:
            session.deliver(report, active.options)


def proved(report: Report, origin: Cells | None) -> Report:
    """The report with its fixes tried; as it is, and a line that says so, where that failed or was interrupted.

    Args:
        report: of a cell.
        origin: how the cell can be run again later.
    """
    try:
        with runs_shown("--prove", origin.shell if origin is not None else None):
            report = report.prove()
        return replace(report, origin=origin)  # the copies of before the cell are no longer needed
    except KeyboardInterrupt:
        print(_("inplace_magic: interrupted; the fixes were not tried, and your variables are as the cell left them."))
    except Exception as error:  # a boundary: the cell has its result already, and keeps it
        complain(_("the fixes could not be tried"), error)
    return replace(report, origin=origin)


def stopped(session: Session, active: Active, raised: BaseException | None) -> Report | None:
    """Ends a watch and makes its report; None, and a line that says so, where that failed."""
    shell = session.shell
    try:
        report = active.watch.stop(namespace=shell.user_ns, cells=cell_numbers(shell), error=raised)
        return replace(report, origin=active.origin)
    except Exception as error:  # a boundary: the cell has its result already, and keeps it
        complain(_("the cell was watched, but no report could be made"), error)
        return None


def _first_line(error: BaseException) -> str:
    """The beginning of an error's text; of a text that is none, nothing: no code of the user's is run for it."""
    text = error.args[0] if error.args else ""
    return text.strip().partition("\n")[0][:200] if isinstance(text, str) else ""
