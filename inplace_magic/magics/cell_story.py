"""The story of several cells under one watch; `across_cells.py` begins and ends it, `session.py` each cell of it.

A forward in one cell, a ``step()`` in the next and a ``backward()`` in a third are one story, so one watch records them
all: its probes go on before each cell and come off after it. After a cell with torch calls the report is made again,
when its :class:`Pace` says, and each new finding is shown as a card, once.
"""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from inplace_magic.errors import InplaceMagicError
from inplace_magic.flags import Options
from inplace_magic.language import N_, _, ngettext
from inplace_magic.magics.options import STORY_MAGIC
from inplace_magic.magics.output import show_cards
from inplace_magic.magics.session import Session
from inplace_magic.magics.unwatched import is_explained
from inplace_magic.render.deliver import boundary, complain, tell
from inplace_magic.report import Report
from inplace_magic.watching.api import watch
from inplace_magic.watching.news import News

AT_ONCE = 0.03
"""Seconds of delay that nobody notices at the prompt."""
SHARE = 0.01
"""Of the time that the cells themselves took, what reports may take besides."""
IDLE_AFTER = 0.5
"""Seconds after a cell from which on the kernel counts as idle: the next cell of "Run all" has begun by then."""
_FIRST_GUESS = 6e-5
"""Seconds a call, while no report was made yet."""


@dataclass(slots=True)
class Pace:
    """The time of a story's reports and of its cells."""

    a_call: float = _FIRST_GUESS
    """Seconds of the last report, by call."""
    ran: float = 0.0
    """Seconds that cells ran since then."""

    def can_afford(self, calls: int) -> bool:
        """True if a report of so many calls can be made at once."""
        return calls * self.a_call <= max(AT_ONCE, SHARE * self.ran)

    def reported(self, calls: int, seconds: float) -> None:
        """Note the time of a report of so many calls."""
        self.a_call = seconds / max(calls, 1000)  # a part of it does not depend on the calls
        self.ran = 0.0


_NO_REPORT = N_("the story was watched, but no report could be made")
_TOLD_BEFORE = N_("inplace_magic: a finding shown before explains this error; `%inplace_report` shows it again.")


@dataclass(slots=True, eq=False)
class CellStory:
    """What ``on`` began and ``off`` ends."""

    host: Session
    options: Options
    watch: watch
    since: str
    """The cell that switched the story on."""
    cell_open: bool = False
    """A cell is being watched; its end was not announced yet."""
    reported: int = 0
    """How many calls the last report had."""
    news: News = field(default_factory=News)
    pace: Pace = field(default_factory=Pace)
    _began: float = 0.0
    """When the cell that is being watched began."""
    _made: Report | None = None

    def begin(self) -> None:
        """Puts the probes on before a cell; when that fails, one line says so and the cell runs unwatched."""
        try:
            self.begin_cell()
        except InplaceMagicError as error:
            text = _("inplace_magic: this cell is not part of the story of `{magic}`. {error}")
            print(text.format(magic=STORY_MAGIC, error=error), file=sys.stderr)
        except Exception as error:  # a boundary: our fault must not cost the user the cell
            complain(_("this cell runs unwatched, because the watch could not start"), error)

    def begin_cell(self) -> None:
        """Puts the probes on.

        Raises:
            InplaceMagicError: another watch is on.
        """
        self.leave()  # where the end of the last cell was never announced
        self.watch.start(cell_globals=self.host.shell.user_global_ns)
        self.host.tracebacks.on()
        self.cell_open = True
        self._began = time.perf_counter()

    def leave(self) -> None:
        """Takes the probes off; the cell's findings wait for :meth:`end_cell`."""
        self.host.tracebacks.off()
        self.watch.leave()

    def above_traceback(self, error: BaseException) -> None:
        """Shows the findings that explain an error before IPython prints its traceback."""
        self.watch.leave()
        if not is_explained(error) or self.watch.recorded == self.reported:
            return
        self._show_news(self._fresh_report(error), error)

    def end_cell(self, raised: BaseException | None) -> None:
        """Take the probes off and show the cell's findings, now or when the kernel is idle."""
        self.leave()
        self.cell_open = False
        self.pace.ran += time.perf_counter() - self._began
        recorded = self.watch.recorded
        if recorded == self.reported:
            return  # nothing new can be found, and a report of a long story takes its time
        if not (is_explained(raised) or self.options.deliver.out is not None or self.pace.can_afford(recorded)):
            with suppress(RuntimeError):  # a shell without a loop, where it is made on request
                asyncio.get_running_loop().call_later(IDLE_AFTER, self._when_idle)
            return
        self._show_news(self._fresh_report(raised), raised)

    def _show_news(self, report: Report | None, raised: BaseException | None) -> None:
        """Shows the findings of a report that were not shown yet; of an error that leaves nothing new, one line."""
        if report is None:
            return
        fresh = self.news.of(report)
        if fresh:
            show_cards(self.host.shell, report, fresh)
        elif is_explained(raised) and self.news.count:
            print(_(_TOLD_BEFORE))

    def catch_up(self) -> None:
        """Make the postponed report, on request."""
        if self.watch.recorded == self.reported:
            return
        within = self.cell_open
        self.leave()
        self._fresh_report(None)
        if within:
            self.begin_cell()

    def _when_idle(self) -> None:
        """Make the postponed report, unless something runs again."""
        if self.host.story is not self or self.cell_open or self.host.running or self.watch.recorded == self.reported:
            return
        with boundary(_(_NO_REPORT)):  # the loop is the kernel's
            self._show_news(self._fresh_report(None), None)

    def _fresh_report(self, raised: BaseException | None) -> Report | None:
        began, recorded = time.perf_counter(), self.watch.recorded
        report = self.host.made(self.watch.peek, raised, _(_NO_REPORT))
        if report is not None:
            self.reported = recorded
            self.pace.reported(len(report.trace.calls), time.perf_counter() - began)
            report = self._made = self.host.keep(report, self.options)
        return report

    def end(self, raised: BaseException | None = None) -> Report | None:
        """Ends the watch; None when no report could be made."""
        self.leave()
        made = self._made if self.watch.recorded == self.reported else None
        return self.host.made(partial(self.watch.stop, made=made), raised, _(_NO_REPORT))

    def at_exit(self) -> None:
        """At Python's exit without ``off``, as in ``ipython script.ipy``, print new findings on standard error. The
        cells of a script run silently, so IPython did not announce their end."""
        if self.watch.recorded == self.reported or getattr(self.host.shell, "kernel", None) is not None:
            return
        report = self.end(getattr(sys, "last_value", None))
        if report is not None and self.news.of(report):
            tell(report, quiet=True)

    def figures(self) -> str:
        """``since Cell In[3]: 1,234 calls, 2 findings``."""
        calls, findings = self.watch.recorded, self.news.count
        recorded = ngettext("{count} call recorded", "{count} calls recorded", calls).format(count=f"{calls:,}")
        shown = ngettext("{count} finding shown", "{count} findings shown", findings).format(count=findings)
        return _("since {place}: {recorded}, {shown}").format(place=self.since, recorded=recorded, shown=shown)
