"""The watched parts of a long run: which steps they take, like ``torch.profiler.schedule``, and one report each.

A schedule or a pause leaves gaps, and nobody knows what the program did there. So no finding reaches over a gap: each
part is a watch of its own. Otherwise a gradient cleared in a gap would look like one that is never cleared.

The run goes on after a part, and backward may never go through an open graph. So a part's findings about the future
wait until the error comes in a later part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from inplace_magic.errors import OptionError
from inplace_magic.hazards import SEVERITIES, Hazard
from inplace_magic.language import _
from inplace_magic.report import Report
from inplace_magic.watching.news import News, is_of_the_future

Schedule = Callable[[int], bool]
"""Returns True if a step, counted from 0, is watched."""


def schedule(*, active: int, wait: int = 0, repeat: int = 0, skip_first: int = 0) -> Schedule:
    """Return a function for ``watch(schedule=…)``: skip `skip_first` steps, then alternate `wait` steps without a watch
    and `active` watched steps, which get a report.

    Args:
        active: number of watched steps in a row.
        wait: number of unwatched steps before them.
        repeat: number of cycles; 0: to the end.
        skip_first: number of steps before the first cycle.

    Raises:
        OptionError: a negative number, or no step to watch.

    Example:
        >>> with inplace_magic.watch(schedule=inplace_magic.schedule(wait=98, active=2)) as w:
        ...     for batch in loader:
        ...         train(batch)
        ...         w.step()
    """
    for name, count in {"active": active, "wait": wait, "repeat": repeat, "skip_first": skip_first}.items():
        least = 1 if name == "active" else 0
        if count < least:
            sentence = _("schedule({name}={count}) cannot be; it is {least} or more.")
            raise OptionError(sentence.format(name=name, count=count, least=least))
    return _Cycles(active, wait, repeat, skip_first)


@dataclass(frozen=True, slots=True)
class _Cycles:
    """A record, not a closure, so that it can be pickled."""

    active: int
    wait: int
    repeat: int
    skip_first: int

    def __call__(self, step: int) -> bool:
        cycle, place = divmod(step - self.skip_first, self.wait + self.active)
        return step >= self.skip_first and place >= self.wait and (self.repeat == 0 or cycle < self.repeat)


@dataclass(slots=True)
class Windows:
    """The finished parts: reports with new findings, bounded by the number of possible findings."""

    found: list[Report] = field(default_factory=list)
    """Reports with findings, the worst first, each finding in its first report."""
    news: News = field(default_factory=News)
    _last: Report | None = None

    def close(self, report: Report) -> None:
        """Add the report of a finished part; the run goes on."""
        self._last = report
        fresh = self.news.of(report)
        if fresh:
            self._keep(replace(report, findings=_first(fresh, report)))

    def end(self, report: Report | None) -> Report | None:
        """Return the most telling report: of the part with the error, else with the worst finding, else of the last
        part.

        Args:
            report: report of the part open at the end of the run, or None.
        """
        if report is None:
            last = self._last
            only_notes = None if last is None else replace(last, findings=_first([], last))
            return self.found[0] if self.found else only_notes
        before, self._last = self._last, report
        if report.trace.error is not None:
            if _names_the_writer(report) or before is None or not _names_the_writer(before):
                return report
            return replace(before, trace=replace(before.trace, error=report.trace.error))
        fresh = self.news.of(report)
        if fresh or not self.found:
            self._keep(report)
        return self.found[0]

    def _keep(self, report: Report) -> None:
        self.found.append(report)
        self.found.sort(key=_badness)


def _first(fresh: list[Hazard], report: Report) -> tuple[Hazard, ...]:
    """Return the new findings, then the notes."""
    notes = (finding for finding in report.findings if finding.severity == "info")
    return (*fresh, *(note for note in notes if not is_of_the_future(note)))


def _badness(report: Report) -> int:
    return min((SEVERITIES.index(finding.severity) for finding in report.findings), default=len(SEVERITIES))


def _names_the_writer(report: Report) -> bool:
    told = (each for each in report.findings if each.severity == "error" or is_of_the_future(each))
    return any(finding.mutation is not None for finding in told)
