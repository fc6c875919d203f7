"""The extension's state in one shell: the watch of the running cell, the story, the settings.

IPython's events announce the start and end of cells. The ``post_run_cell`` event stops a cell's watch and displays the
report, after the cell's own output. In a notebook, a report that explains the error that left the cell comes before the
traceback, which is as high as the screen; in a terminal it comes last, since there the end is in sight.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from inplace_magic.language import N_, _
from inplace_magic.magics.cell_transform import WatchLine
from inplace_magic.magics.output import show, show_cards, show_widget
from inplace_magic.magics.tracebacks import ShortTracebacks
from inplace_magic.magics.unwatched import Failed, failure_of, show_answer
from inplace_magic.render.deliver import boundary, write
from inplace_magic.source.shells import cell_numbers
from inplace_magic.watching.last import note

if TYPE_CHECKING:
    from inplace_magic.flags import Options
    from inplace_magic.magics.cell_story import CellStory
    from inplace_magic.magics.watching import Active
    from inplace_magic.record.options import ShowOptions
    from inplace_magic.report import Report


KEPT = 8
"""Reports of cells that can be asked for by number."""
BELOW = N_("The report, with its fixes tried, is below the traceback.")
MOST_FAILURES = 100
"""Number of remembered failed cells."""


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
    """The failed unwatched cells, by execution count, in the order of their failures."""
    _last_error: int = field(init=False)
    """``id`` of the error that IPython showed last, by the beginning of the running cell or when it was answered."""
    replaced: list[tuple[dict[str, Any], str, Any]] = field(default_factory=list)
    """Entries of the shell's magic tables that ours stand in for, to be put back."""

    def __post_init__(self) -> None:
        self.tracebacks = ShortTracebacks(self.shell, self.above_traceback, self.transform.typed)
        self._last_error = id(_shown_last())

    @property
    def last(self) -> tuple[Report, ShowOptions] | None:
        """The newest report; a story's postponed report is made now."""
        if self.story is not None:
            self.story.catch_up()
        return self._last

    def pre_run_cell(self, info: Any) -> None:
        if not self.running and self.active is not None:
            self._finish(None)  # its own post_run_cell never came; the next cell must not be watched by it
        if not self.running and self.story is not None:
            self.story.begin()
        self.running.append(info)
        self._last_error = id(_shown_last())

    def post_execute(self) -> None:
        # A cell whose beginning was not announced switched the story on. If it runs silently, its end is not either.
        if not self.running and self.story is not None:
            self.story.leave()

    def post_run_cell(self, result: Any) -> None:
        owner = self._leave(getattr(result, "info", None))
        raised = getattr(result, "error_before_exec", None) or getattr(result, "error_in_exec", None)
        if self.active is not None:
            if self.active.owner is owner:
                self._finish(raised)
        elif self.story is not None and self.story.cell_open:
            if not self.running:
                self.story.end_cell(raised)
        elif raised is not None:
            self._note_failure(result, raised)
        elif isinstance(shown := _shown_last(), Exception) and id(shown) != self._last_error:
            self._note_failure(result, shown)  # `%run program.py` prints a traceback, and its cell ends as if well

    def _note_failure(self, result: Any, raised: BaseException) -> None:
        """Keeps what an unwatched cell raised, as text, and shows the answer to it."""
        number = getattr(result, "execution_count", None)
        if not isinstance(raised, Exception) or isinstance(raised, UsageError):
            return
        if number is not None:
            self.failed.pop(number, None)
            self.failed[number] = failure_of(raised)
            for oldest in tuple(self.failed)[:-MOST_FAILURES]:
                del self.failed[oldest]
        show_answer(self.shell, raised, number)
        self._last_error = id(_shown_last())

    def above_traceback(self, error: BaseException) -> None:
        """Shows what explains the error that left a watched cell, before IPython prints its traceback."""
        if getattr(self.shell, "kernel", None) is None:
            return
        try:
            from inplace_magic.analysis.story import indexed_once

            # The user's traceback is printed whatever becomes of ours.
            with boundary(_("the report could not be displayed")), indexed_once():
                self._above_traceback(error)
        except KeyboardInterrupt:
            print(_("inplace_magic: interrupted; `%inplace_report` shows the report."))

    def _above_traceback(self, error: BaseException) -> None:
        active = self.active
        if active is None and self.story is not None and self.story.cell_open and len(self.running) <= 1:
            self.story.above_traceback(error)
            return
        if active is None or not self.running or self.running[-1] is not active.owner:
            return
        from inplace_magic.magics.watching import stopped

        report = stopped(self, active, error)
        if report is None:
            self.active = None
            self.tracebacks.off()
            return
        raised = [finding for finding in report.hazards if finding.raised]
        whole = bool(raised) and not active.options.deliver.prove
        self.active = replace(active, report=report, shown=whole)
        if whole:
            self.deliver(report, active.options)
        elif raised:
            show_cards(self.shell, report, raised, more=BELOW)

    def must_be_idle(self, magic: str) -> None:
        """Refuse a magic during a watch."""
        if self.story is not None or self.active is not None:
            text = _("`{magic}` cannot run while another watch is on; `%inplace_watch off` ends it.")
            raise UsageError(text.format(magic=magic))

    def made(self, make: Callable[..., Report], raised: BaseException | None, what: str) -> Report | None:
        """Make a report with the shell's names and cells; None, and a line that says `what` failed, where that did."""
        with boundary(what):
            return make(namespace=self.shell.user_ns, cells=cell_numbers(self.shell), error=raised)
        return None

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
        """Store a report, display it with known findings folded, and write ``--save``."""
        report = self.keep(report, options)
        show(self.shell, report, options.show, beside_widget=options.deliver.widget is not None, told=told)
        if options.deliver.widget is not None:
            show_widget(self.shell, report, options.deliver.widget)
        if options.deliver.save is not None:
            write(report, options.deliver.save, options.show)

    def end(self) -> None:
        """End a running watch or story, and show its report."""
        self._finish(None)
        if self.story is not None:
            from inplace_magic.magics.across_cells import switch_off

            switch_off(self)

    def _finish(self, raised: BaseException | None) -> None:
        if self.active is not None:
            from inplace_magic.magics.watching import finish

            finish(self, raised)

    def _leave(self, info: Any) -> Any:
        """Remove the ended cell from the list.

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


def _shown_last() -> object:
    """Return the error whose traceback was printed last."""
    return getattr(sys, "last_value", None)
